import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectAccessible, expectClean, openConsoleFixture, type ConsoleFixture } from './fixture.ts';

let console: ConsoleFixture;
beforeAll(async () => {
  console = await openConsoleFixture();
});
afterAll(() => console.close());

test('signs in with an API key and out again', async () => {
  const opened = await console.open();
  const { page } = opened;
  await page.reload();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('API key').waitFor();
  await expectAccessible(page);
  await page.reload();
  expect(await page.getByLabel('API key').isVisible()).toBe(true);
  expectClean(opened);
});
