import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import type { Locator, Page } from 'playwright-core';
import { agentRequests, hostile, type AgentRequest } from './agent-data.ts';
import { expectAccessible, expectClean, openConsoleFixture, type ConsoleFixture } from './fixture.ts';
import { choose, press, type } from './keyboard.ts';

let console: ConsoleFixture;
let request: AgentRequest;
let runsPage: string;
beforeAll(async () => {
  console = await openConsoleFixture();
  const { id } = await console.deploy('echo-agent');
  request = agentRequests(console, id);
  runsPage = `deployments/${id}/runs`;
});
afterAll(() => console.close());

const rows = (page: Page): Locator => page.getByRole('table', { name: 'Runs' }).locator('tbody tr');

/** Runs the agent on a thread of its own. @returns the thread's id */
async function runAgent(input: object): Promise<string> {
  const { thread_id } = z.looseObject({ thread_id: z.string() }).parse(await request('POST', 'threads', {}));
  await request('POST', `threads/${thread_id}/runs/wait`, { assistant_id: 'echo', input });
  return thread_id;
}

test('finds a failed run by its error, shows its steps, and compares two runs', async () => {
  const opened = await console.open(runsPage);
  const { page } = opened;
  await page.getByText('No runs yet').waitFor();
  await expectAccessible(page);

  // A run in progress is listed first, and can be followed.
  const slow = z.looseObject({ run_id: z.string() });
  const { run_id } = slow.parse(
    await request('POST', 'runs', { assistant_id: 'echo', input: { input: 'slow', sleep_ms: 600_000 } }),
  );
  await rows(page).getByText('Running').waitFor();
  await rows(page).getByText('"input":"slow"').waitFor();
  await rows(page).getByText('API', { exact: true }).waitFor();
  await expectAccessible(page);
  await request('POST', 'runs/cancel', { status: 'all' });
  await rows(page).getByText('Interrupted').waitFor({ timeout: 120_000 });
  await page.goto(`${page.url()}?assistant=echo-none`);
  await page.getByText('No run matches').waitFor();
  await page.goto(page.url().replace(/\?.*/, ''));
  await expect.poll(() => rows(page).getByText(run_id.slice(0, 8)).count()).toBe(1);

  const thread = await runAgent({ input: 'Ada' });
  await runAgent({ input: hostile });
  await runAgent({ input: 'x', fail: `boom ${hostile}` });
  // The page polls: the agent reports a run some moments after its end.
  await expect.poll(() => rows(page).count(), { timeout: 120_000 }).toBe(4);
  await rows(page).getByText('hello Ada').waitFor();
  await expectAccessible(page);

  await type(page.getByRole('searchbox', { name: 'Text of the error' }), 'BOOM');
  await press(page.getByRole('searchbox', { name: 'Text of the error' }));
  await expect.poll(() => rows(page).count()).toBe(1);
  await page.reload();
  await rows(page).getByText('RequestedFailure: boom <img').waitFor();
  await expect.poll(() => rows(page).count()).toBe(1);

  await press(rows(page).getByRole('link').first());
  await page
    .getByRole('region', { name: /^Error: RequestedFailure/ })
    .first()
    .waitFor();
  const steps = page.getByRole('list', { name: 'Steps' }).locator('> li');
  await expect
    .poll(() => steps.locator('> details > summary').allInnerTexts())
    .toEqual([expect.stringMatching(/^prepare\s+[\d.]+ m?s$/), expect.stringMatching(/^answer\s+failed [\d.]+ m?s$/)]);
  await press(steps.nth(0).locator('summary').first());
  await steps.nth(0).getByRole('heading', { name: 'Input' }).waitFor();
  await steps.nth(0).getByText('"x"').first().waitFor();
  await steps
    .nth(0)
    .getByText(/^Began [\d.]+ m?s after the start\.$/)
    .waitFor();
  await press(steps.nth(1).locator('summary').first());
  await steps.nth(1).getByText('None: the step failed.').waitFor();
  await expectAccessible(page);

  await press(page.getByRole('link', { name: 'All runs' }));
  await expect.poll(() => rows(page).count()).toBe(4);
  await choose(page.getByRole('combobox', { name: 'Status' }), 'Success');
  await expect.poll(() => rows(page).count()).toBe(2);
  await type(page.getByRole('searchbox', { name: 'Thread' }), 'no id');
  await press(page.getByRole('searchbox', { name: 'Thread' }));
  await page.getByText('Enter the whole id of a thread.').waitFor();
  await type(page.getByRole('searchbox', { name: 'Thread' }), '');
  await press(page.getByRole('searchbox', { name: 'Thread' }));
  await rows(page)
    .nth(0)
    .getByRole('link', { name: /^[0-9a-f]{8}$/ })
    .nth(1)
    .waitFor();
  const place = await rows(page).nth(0).boundingBox();
  await press(rows(page).nth(0).getByRole('checkbox'));
  await press(rows(page).nth(1).getByRole('checkbox'));
  await page.getByRole('link', { name: 'Compare (2 of 2)' }).waitFor();
  await expect.poll(() => rows(page).nth(0).boundingBox()).toEqual(place);
  await press(page.getByRole('button', { name: 'Clear the choice' }));
  expect(await rows(page).getByRole('checkbox', { checked: true }).count()).toBe(0);
  await press(rows(page).nth(0).getByRole('checkbox'));
  await press(rows(page).nth(1).getByRole('checkbox'));
  await press(page.getByRole('link', { name: 'Compare (2 of 2)' }));
  const inputs = page.getByRole('table', { name: 'Inputs', exact: true });
  // The older run is on the left, though it was chosen last.
  await inputs.getByRole('row', { name: /^input different "Ada"/ }).waitFor();
  await inputs.getByText('<img src=x').waitFor();
  const compared = page.getByRole('region', { name: 'Steps' }).getByRole('listitem');
  await expect
    .poll(() => compared.locator('> details > summary').allInnerTexts())
    .toEqual([expect.stringMatching(/^prepare[^]*different$/), expect.stringMatching(/^answer[^]*different$/)]);
  await press(compared.nth(1).locator('summary').first());
  await compared.nth(1).getByRole('table', { name: 'Outputs of the step' }).getByText('"hello Ada"').waitFor();
  await expectAccessible(page);

  await page.goBack();
  await type(page.getByRole('searchbox', { name: 'Thread' }), thread);
  await press(page.getByRole('searchbox', { name: 'Thread' }));
  await expect.poll(() => rows(page).count()).toBe(1);
  await press(rows(page).getByRole('link').first());
  const playground = await page.getByRole('link', { name: 'Open in playground' }).getAttribute('href');
  const runId = /runs\/([^/]+)$/.exec(page.url())?.[1];
  expect(playground).toMatch(new RegExp(`/playground\\?thread=${thread}&run=${runId}$`));
  expectClean(opened);
});
