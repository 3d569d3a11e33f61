import { join } from 'node:path';
import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { assistantSchema } from '../../src/contract/agent/assistant.ts';
import { Repository } from '../../src/demo/repository.ts';
import { commitLinkScript } from '../installed-packages.ts';
import { expectAccessible, expectClean, openConsoleFixture, type ConsoleFixture } from './fixture.ts';
import { choose, press, type } from './keyboard.ts';
import { button, chat, ended, openStep, run, say } from './playground/actions.ts';
import { openGate, type Gate } from './playground/gate.ts';

let console: ConsoleFixture;
/** The page of the agent in `agents/playground`. */
let playground: string;
const gates: Gate[] = [];

beforeAll(async () => {
  console = await openConsoleFixture();
  const folder = join(console.services.folder, 'git/acme/playground');
  const repository = await Repository.fromExample(join(import.meta.dirname, 'agents/playground'), folder);
  await commitLinkScript(repository);
  playground = `deployments/${(await console.deploy('playground', { repository })).id}/playground`;
});
afterAll(async () => {
  await Promise.all(gates.map((gate) => gate.close()));
  await console.close();
});

async function newGate(): Promise<Gate> {
  const gate = await openGate();
  gates.push(gate);
  return gate;
}

/** Whether a part of the page lies within the window. */
const isInSight = (part: Locator): Promise<boolean> =>
  part.evaluate((element) => {
    const { top, bottom } = element.getBoundingClientRect();
    return top >= 0 && bottom <= element.ownerDocument.documentElement.clientHeight;
  });

test('shows tokens as they come, in two tabs, over a reload, without losing or doubling one', async () => {
  const gate = await newGate();
  const first = await console.open(playground);
  await say(first.page, `one ${gate.url} two`);
  const half = 'You said: one';
  const whole = 'You said: one gate two';
  await chat(first.page).getByText(half, { exact: true }).waitFor();
  await run(first.page).getByText('Running', { exact: true }).waitFor();
  await first.page.locator('[data-node="answer"].playground-node-running').waitFor();
  await first.page.waitForURL(/thread=.*run=/);

  const page = await first.page.context().newPage();
  await page.goto(first.page.url());
  await first.page.reload();
  for (const tab of [first.page, page]) await chat(tab).getByText(half, { exact: true }).waitFor();
  gate.open();
  for (const tab of [first.page, page]) {
    await chat(tab).getByText(whole, { exact: true }).waitFor();
    await ended(tab, 'Success');
    await expect.poll(() => chat(tab).getByRole('listitem').count()).toBe(2);
  }

  await say(page, 'from the other tab');
  await chat(first.page).getByText('You said: from the other tab').waitFor();
  await first.page.getByRole('list').getByRole('link', { name: /^one/ }).waitFor();
  await press(first.page.getByRole('button', { name: /^Delete one/ }));
  await press(first.page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }));
  await first.page.getByText('No threads yet.').waitFor();
  expect(first.externalRequests).toEqual([]);
});

test('continues a stream after the service was killed and started', async () => {
  const gate = await newGate();
  const opened = await console.open(playground);
  const { page } = opened;
  await say(page, `one ${gate.url} two`);
  await chat(page).getByText('You said: one', { exact: true }).waitFor();
  await gate.reached();
  await console.services.kill();
  await page.getByText('The connection is lost.').waitFor();
  gate.open();
  await console.services.startAgain();
  await chat(page).getByText('You said: one gate two', { exact: true }).waitFor();
  await ended(page, 'Success');
  await expect.poll(() => chat(page).getByRole('listitem').count()).toBe(2);
  expect(opened.externalRequests).toEqual([]);
});

test('answers interrupts: approved, edited, rejected', async () => {
  const opened = await console.open(playground);
  const { page } = opened;
  await say(page, 'delete a.txt');
  await page.getByRole('heading', { name: 'The agent needs your answer' }).waitFor();
  await page.locator('[data-node="review"].playground-node-waiting').waitFor();
  await ended(page, 'Waiting for you');
  await expectAccessible(page);
  await press(button(page, 'Approve'));
  await chat(page).getByText('You said: deleted a.txt').waitFor();
  const call = chat(page).locator('details', { hasText: 'Calls delete_file' });
  await press(call.locator('summary').first());
  await call.getByText('"a.txt"').waitFor();

  await say(page, 'delete b.txt');
  await press(button(page, 'Edit'));
  const args = page.getByLabel('Arguments (JSON)');
  await type(args, '{ "path": ');
  await page.getByText('This is not valid JSON').waitFor();
  await type(args, '{ "path": "c.txt" }');
  await press(button(page, 'Use these arguments'));
  await chat(page).getByText('You said: deleted c.txt').waitFor();

  await say(page, 'delete d.txt');
  await press(button(page, 'Reject'));
  await type(page.getByLabel('Reason (optional)'), 'too dear');
  await press(button(page, 'Reject the action'));
  await chat(page).getByText('You said: kept: too dear').waitFor();
  // The question, the call, its result and the answer, each once.
  await expect.poll(() => chat(page).getByRole('listitem').count()).toBe(12);
  expectClean(opened);
});

test('takes input by a form with problems at their fields, and answers two interrupts at once', async () => {
  const opened = await console.open(playground);
  const { page } = opened;
  await choose(page.getByLabel('Assistant', { exact: true }), 'order');
  await type(page.getByLabel('name', { exact: true }), 'Ada');
  await type(page.getByLabel('count', { exact: true }), '2.5');
  await choose(page.getByLabel('size', { exact: true }), 'large');
  await press(button(page, 'Add to tags'));
  await type(page.getByLabel('Entry 1', { exact: true }), 'red');
  await press(button(page, 'Add address'));
  await type(page.getByLabel('street (required)'), 'Hill 1');
  await press(button(page, 'Run'));
  await page.getByText('Enter a whole number.').waitFor();
  await expect.poll(() => page.getByLabel('count', { exact: true }).getAttribute('aria-invalid')).toBe('true');
  await expectAccessible(page);
  await type(page.getByLabel('count', { exact: true }), '2');
  await press(page.getByLabel('Input as JSON'));
  expect(JSON.parse(await page.getByLabel('Input (JSON)').inputValue())).toEqual({
    name: 'Ada',
    count: 2,
    size: 'large',
    gift: false,
    tags: ['red'],
    address: { street: 'Hill 1' },
  });
  await page.setViewportSize({ width: 390, height: 420 });
  await press(button(page, 'Run'));
  await ended(page, 'Waiting for you');
  await expect.poll(() => isInSight(run(page))).toBe(true);
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.getByRole('region', { name: 'Threads' }).getByRole('link', { name: /^Ada/ }).waitFor();
  const waiting = page.getByRole('region', { name: 'Waiting for you' });
  await waiting.getByText('Is it in stock?').waitFor();
  await expect.poll(() => button(page, 'Send answers').isDisabled()).toBe(true);
  await type(waiting.getByLabel('Answer').nth(0), '7 euros');
  await type(waiting.getByLabel('Answer').nth(1), 'true');
  await press(button(page, 'Send answers'));
  await page.getByRole('region', { name: 'State' }).getByText('2 large for Ada, Hill 1, red: 7 euros, true').waitFor();
  expectClean(opened);
});

test('forks from a step, edits a state, cancels a run, and shows the stack of an error', async () => {
  const gate = await newGate();
  const opened = await console.open(playground);
  const { page } = opened;
  await say(page, 'hello');
  await chat(page).getByText('You said: hello').waitFor();
  await ended(page, 'Success');

  await page.waitForURL(/run=/);
  const firstRun = page.url();
  const sorted = await openStep(page, 'sort');
  await press(sorted.getByRole('button', { name: 'Fork from here' }));
  await page.getByText('The next run continues from step 1').waitFor();
  await expect.poll(() => chat(page).getByText('You said: hello').count()).toBe(0);
  await say(page, 'another way');
  await chat(page).getByText('You said: another way').waitFor();
  await ended(page, 'Success');
  expect(await chat(page).getByText('You said: hello').count()).toBe(0);

  await page.goto(firstRun);
  await chat(page).getByText('You said: hello').waitFor();
  await press(button(page, 'Show the newest'));
  await chat(page).getByText('You said: another way').waitFor();

  const answered = await openStep(page, 'answer');
  await press(answered.getByRole('button', { name: 'Edit the state' }));
  const values = page.getByLabel('Values (JSON)');
  await type(values, '[]');
  await page.getByText('Enter a JSON object').waitFor();
  await type(values, '{ "topic": "edited" }');
  await page.getByText('Changes topic.').waitFor();
  await choose(page.getByLabel('As node'), 'answer');
  await press(button(page, 'Save'));
  const edited = await openStep(page, 'Edited');
  await edited.getByText('"edited"').first().waitFor();

  await say(page, `wait ${gate.url}`);
  await gate.reached();
  await press(button(page, 'Cancel the run'));
  await ended(page, 'Interrupted');
  await page.getByText('The run was cancelled.').waitFor();

  await say(page, 'fail now');
  await run(page).getByText('no ink: fail now').waitFor();
  await press(run(page).getByText('Stack'));
  await run(page)
    .getByText(/at .*helper\.ts/)
    .waitFor();
  await page.locator('[data-node="answer"].playground-node-failed').waitFor();
  await page.reload();
  await run(page).getByText('no ink: fail now').waitFor();
  const failed = await run(page).getByRole('link').textContent();
  await press(button(page, 'Try again'));
  await expect.poll(() => run(page).getByRole('link').textContent()).not.toBe(failed);
  await run(page).getByText('no ink: fail now').waitFor();
  await expectAccessible(page);
  expectClean(opened);
});

test('shows hostile answers as text and sends no external request', async () => {
  const external = await newGate();
  external.open();
  const opened = await console.open(playground);
  const { page } = opened;
  await say(page, `hostile ${external.url}`);
  await chat(page).getByText('A heading', { exact: true }).waitFor();
  await ended(page, 'Success');
  await chat(page)
    .getByText(/<img src=x onerror=/)
    .waitFor();
  await chat(page).getByText('right to left: �gnirts� and a zero: �.').waitFor();
  expect(await page.locator('.playground-main :is(img, script, iframe, h1, h3)').count()).toBe(0);
  const links = await chat(page)
    .getByRole('link')
    .evaluateAll((all) =>
      all.map((link) => `${link.textContent} ${link.getAttribute('rel')} ${link.getAttribute('target')}`),
    );
  const safe = 'noopener noreferrer nofollow _blank';
  expect(links).toContain(`a page ${safe}`);
  expect(links).toContain(`Image: a picture ${safe}`);
  expect(links.filter((link) => link.includes('script') && !link.includes('/script'))).toEqual([]);
  await expectAccessible(page);

  await say(page, `hostile ${external.url} long`);
  await press(page.getByRole('button', { name: /Show all 1,000,\d+ characters/ }));
  await button(page, 'Show less').waitFor();
  await ended(page, 'Success');
  const scrolled = (): Promise<number> => chat(page).evaluate((list) => list.scrollTop);
  await chat(page).evaluate((list) => list.scrollTo(0, 0));
  await button(page, 'Go to the newest message').waitFor();
  await say(page, 'still there?');
  await chat(page).getByText('You said: still there?').waitFor();
  expect(await scrolled()).toBe(0);
  await press(button(page, 'Go to the newest message'));
  await expect.poll(scrolled).toBeGreaterThan(1_000);
  expect(external.requests).toEqual([]);
  expectClean(opened);
});

test('talks to the example agents, with a context and a version of an assistant', async () => {
  const support = await console.deploy('support-agent');
  const opened = await console.open(`deployments/${support.id}/playground`);
  const { page } = opened;
  await say(page, 'Where is my parcel?');
  await chat(page).getByText('Parcels leave the same day and arrive within two days.').waitFor();
  await ended(page, 'Success');

  // A redirect is not followed, and not requested again and again.
  await page.route('**/runs/*/stream*', (route) => route.fulfill({ status: 307, headers: { location: '/other' } }));
  await say(page, 'And my refund?');
  const refusal = page.getByRole('alert').filter({ hasText: 'The page stopped following run' });
  await refusal.getByText('The response was a redirect').waitFor();
  await page.unroute('**/runs/*/stream*');
  await press(refusal.getByRole('button', { name: 'Follow again' }));
  await refusal.waitFor({ state: 'detached' });
  await chat(page).getByText('You can return anything within 30 days.').waitFor();

  const echo = await console.deploy('echo-agent');
  const { service } = console.services;
  const request = async (method: string, path: string, body: object): Promise<unknown> => {
    const response = await fetch(`${service.url}/agents/${echo.id}/${path}`, {
      method,
      headers: { 'x-api-key': service.apiKey, 'content-type': 'application/json' },
      body: method === 'GET' ? null : JSON.stringify(body),
    });
    return response.json();
  };
  const { assistant_id: polite } = assistantSchema.parse(
    await request('POST', 'assistants', { graph_id: 'echo', name: 'polite', context: { greeting: 'good day' } }),
  );
  await request('PATCH', `assistants/${polite}`, { context: { greeting: 'good evening' } });

  await page.goto(`${service.url}/console/deployments/${echo.id}/playground`);
  await choose(page.getByLabel('Assistant', { exact: true }), 'polite (echo)');
  const state = page.getByRole('region', { name: 'State' });
  const greet = async (greeting: string): Promise<void> => {
    await press(button(page, 'New thread'));
    await type(page.getByLabel('input', { exact: true }), 'Ada');
    await press(button(page, 'Run'));
    await state.getByText(`"${greeting} Ada"`).waitFor();
    await ended(page, 'Success');
  };
  await greet('good evening');
  await choose(page.getByLabel('Version', { exact: true }), '1');
  await page.getByRole('dialog').getByText('Every run of this assistant').waitFor();
  await press(button(page, 'Activate'));
  await page.getByText('Version 1 is active.').waitFor();
  await greet('good day');
  await press(page.getByRole('heading', { name: 'Context' }));
  await type(page.getByLabel('greeting', { exact: true }), 'good morning');
  await greet('good morning');
  const kept = assistantSchema.parse(await request('GET', `assistants/${polite}`, {}));
  expect(kept).toMatchObject({ version: 1, context: { greeting: 'good day' } });
  expectClean(opened);
});
