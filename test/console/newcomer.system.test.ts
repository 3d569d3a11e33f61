import { cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Locator, Page } from 'playwright-core';
import { edit } from '../../src/demo/repository.ts';
import { linkScript } from '../installed-packages.ts';
import { root } from '../journey/fixture.ts';
import { watchPage } from '../../src/demo/chromium.ts';
import { expectAccessible, expectClean, openConsoleFixture, type ConsoleFixture } from './fixture.ts';
import { press, type } from './keyboard.ts';
import { button } from './playground/actions.ts';

let fixture: ConsoleFixture;
/** A file without which a build waits. */
let gate: string;
let working: string;
/** Its agent does not start. */
let notStarting: string;
/** Its agent starts, and fails its runs. */
let failing: string;

const graphFile = 'src/graph.ts';
const lateFailure = 'The model is not there.';

beforeAll(async () => {
  fixture = await openConsoleFixture();
  const { folder } = fixture.services;
  gate = join(folder, 'git', 'gate');
  const waitScript = `
    import { existsSync } from 'node:fs';
    import { setTimeout as pause } from 'node:timers/promises';
    console.log('waiting for the gate');
    while (!existsSync(${JSON.stringify(gate)})) await pause(50);
    console.log('through the gate');
    await import('./link.mjs');
  `;
  const version = async (name: string): Promise<string> => {
    const made = join(folder, name);
    await cp(join(root, 'examples/echo-agent'), made, { recursive: true });
    await writeFile(join(made, 'link.mjs'), linkScript);
    await writeFile(join(made, 'wait.mjs'), waitScript);
    return made;
  };
  working = await version('echo-agent');
  notStarting = await version('not-starting');
  await edit(
    join(notStarting, graphFile),
    'export const graph',
    "throw new Error('MODEL_KEY is not set');\nexport const graph",
  );
  failing = await version('failing');
  await edit(
    join(failing, graphFile),
    "return { steps: ['answer']",
    `throw new Error('${lateFailure}');\n  return { steps: ['answer']`,
  );
});
afterAll(() => fixture.close());

/** The input of a person. All other journeys are made by keyboard alone. */
interface InputMethod {
  press: (target: Locator) => Promise<void>;
  type: (target: Locator, text: string) => Promise<void>;
  /** Gives a folder of this machine to the page. */
  give: (page: Page, folder: string) => Promise<void>;
}

/* oxlint-disable no-restricted-properties */
const byPointer: InputMethod = {
  press: (target) => target.click(),
  type: (target, text) => target.fill(text),
  give: drop,
};
/* oxlint-enable no-restricted-properties */

const byKeyboard: InputMethod = {
  press,
  type,
  give: (page, folder) => page.getByLabel('Choose a folder').setInputFiles(folder),
};

/** Drops a folder on the page, as a person does from a window of files. */
async function drop(page: Page, folder: string): Promise<void> {
  await page.getByLabel('Choose a folder').waitFor({ state: 'attached' });
  const place = await page.getByRole('main').boundingBox();
  const at = { x: (place?.x ?? 0) + 20, y: (place?.y ?? 0) + 20 };
  const browser = await page.context().newCDPSession(page);
  const data = { items: [], files: [folder], dragOperationsMask: 1 };
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const) {
    await browser.send('Input.dispatchDragEvent', { type, ...at, data });
  }
  await browser.detach();
}

/** Runs the agent in the playground. */
async function greet(page: Page, { press, type }: InputMethod, name: string): Promise<void> {
  await press(page.getByRole('navigation', { name: 'Deployment' }).getByRole('link', { name: 'Playground' }));
  await page.getByLabel('Assistant', { exact: true }).waitFor();
  await type(page.getByLabel('input', { exact: true }), name);
  await press(button(page, 'Run'));
}
const answer = (page: Page, text: string): Promise<void> =>
  page.getByRole('region', { name: 'State' }).getByText(`"${text}"`).first().waitFor();

/** Uploads another version of the deployment, and waits until its revision is shown. */
async function upload(page: Page, { press, give }: InputMethod, folder: string): Promise<void> {
  await press(page.getByRole('link', { name: 'Upload a new version' }));
  await page.getByRole('heading', { name: /^Upload a new version of / }).waitFor();
  await page.getByText('What serves now keeps serving until the new version is ready.').waitFor();
  await give(page, folder);
  await page.getByText(/: \d+ files, /).waitFor();
  await press(button(page, 'Deploy'));
  await page.waitForURL(/\/revisions\//);
}
const serves = (page: Page): Promise<void> =>
  page
    .getByRole('region', { name: /^Revision / })
    .getByText('Live', { exact: true })
    .waitFor({ timeout: 120_000 });
const revisions = (page: Page): Locator =>
  page.getByRole('navigation', { name: 'Deployment' }).getByRole('link', { name: 'Revisions' });

/** Deploys, runs, breaks and rolls back the agent. */
async function journey(page: Page, input: InputMethod, name: string): Promise<void> {
  const { press, type, give } = input;
  const { control } = fixture.services;
  await give(page, working);
  await page.getByText(/^echo-agent: \d+ files, /).waitFor();
  const nameField = page.getByLabel('Name', { exact: true });
  if ((await nameField.inputValue()) !== name) await type(nameField, name);
  await press(page.getByText('Advanced settings'));
  await type(page.getByLabel('Install command'), 'node wait.mjs');
  await press(button(page, 'Deploy'));

  const log = page.locator('.log-text');
  await log.getByText('waiting for the gate', { exact: true }).waitFor();
  await writeFile(gate, '');
  await log.getByText('through the gate', { exact: true }).waitFor();
  await serves(page);
  await greet(page, input, 'Ada');
  await answer(page, 'hello Ada');

  await press(revisions(page));
  await upload(page, input, failing);
  await serves(page);
  await greet(page, input, 'Bob');
  await page.getByText(lateFailure).first().waitFor();

  await press(revisions(page));
  await press(page.getByRole('button', { name: /^Roll back to revision/ }).last());
  await press(page.getByRole('dialog').getByRole('button', { name: 'Roll back' }));
  const live = page.getByRole('listitem').filter({ has: page.getByText('Live', { exact: true }) });
  await live.getByText('Rollback to').waitFor({ timeout: 120_000 });
  await greet(page, input, 'Eve');
  await answer(page, 'hello Eve');
  const found = (await control.listDeployments({})).resources.filter((each) => each.name === name);
  expect(found).toHaveLength(1);
}

test('leads a newcomer from the printed link to an agent that is broken and restored', async () => {
  const { service } = fixture.services;
  const context = await fixture.newContext();
  const opened = watchPage(await context.newPage(), service.url);
  const { page } = opened;
  await page.goto(service.signInLink);
  await page.getByRole('heading', { name: 'Deploy your first agent' }).waitFor();
  await expect.poll(() => page.url()).toBe(`${service.url}/console`);
  await byPointer.press(page.getByRole('link', { name: 'Deploy an agent' }));
  await journey(page, byPointer, 'echo-agent');

  // A version that does not start: the reason is on the page of its revision, and the one before serves on.
  await byPointer.press(revisions(page));
  await upload(page, byPointer, notStarting);
  await page.getByRole('heading', { name: 'The agent was built, but did not start' }).waitFor({ timeout: 120_000 });
  await page.getByText('The revision before still serves all requests.').waitFor();
  await page.getByRole('tab', { name: 'Agent log', selected: true }).waitFor();
  await page.locator('.log-text').getByText('MODEL_KEY is not set').first().waitFor();
  await expectAccessible(page);
  await page.getByRole('link', { name: 'Upload a new version' }).waitFor();
  await greet(page, byPointer, 'Ida');
  await answer(page, 'hello Ida');
  expectClean(opened);
});

test('makes the same journey by keyboard only', async () => {
  const { service } = fixture.services;
  const context = await fixture.newContext();
  const opened = watchPage(await context.newPage(), service.url);
  const { page } = opened;
  await page.goto(`${service.url}/console`);
  await type(page.getByLabel('API key'), service.apiKey);
  await page.keyboard.press('Enter');
  await press(page.getByRole('link', { name: 'New deployment' }));
  await page.getByRole('heading', { name: 'New deployment' }).waitFor();
  await journey(page, byKeyboard, 'by-keyboard');
  await expect.poll(() => page.title()).toBe('Playground · by-keyboard · Landfall');
  expectClean(opened);
});
