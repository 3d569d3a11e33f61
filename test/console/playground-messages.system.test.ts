import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { Repository } from '../../src/demo/repository.ts';
import { commitLinkScript } from '../installed-packages.ts';
import { agentRequests, type AgentRequest } from './agent-data.ts';
import { expectAccessible, expectClean, openConsoleFixture, type ConsoleFixture } from './fixture.ts';
import { press, type } from './keyboard.ts';
import { button, chat, ended, message, say } from './playground/actions.ts';

let console: ConsoleFixture;
let playground: string;
let request: AgentRequest;

beforeAll(async () => {
  console = await openConsoleFixture();
  const folder = join(console.services.folder, 'git/acme/playground');
  const repository = await Repository.fromExample(join(import.meta.dirname, 'agents/playground'), folder);
  await commitLinkScript(repository);
  const { id } = await console.deploy('playground', { repository });
  playground = `deployments/${id}/playground`;
  request = agentRequests(console, id);
});
afterAll(() => console.close());

test('asks before a message drops what waits for an answer', async () => {
  const opened = await console.open(playground);
  const { page } = opened;
  await say(page, 'delete a.txt');
  await ended(page, 'Waiting for you');
  await type(message(page), 'hello instead');
  await press(message(page));
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('heading', { name: 'Send without an answer?' }).waitFor();
  await expectAccessible(page);
  await press(dialog.getByRole('button', { name: 'Cancel' }));
  await button(page, 'Approve').waitFor();
  expect(await message(page).inputValue()).toBe('hello instead');
  await press(message(page));
  await press(dialog.getByRole('button', { name: 'Send anyway' }));
  await chat(page).getByText('You said: hello instead').waitFor();
  await button(page, 'Approve').waitFor({ state: 'detached' });
  expectClean(opened);
});

test('shows embedded images at once, and those of other servers after a click', async () => {
  const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  const address = 'https://pictures.example/a.png';
  const content = [
    { type: 'text', text: 'look' },
    { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } },
    { type: 'image_url', image_url: { url: address } },
    { type: 'image_url', image_url: { url: `data:text/html;base64,PGI+` } },
  ];
  const { thread_id } = z.looseObject({ thread_id: z.string() }).parse(await request('POST', 'threads', {}));
  await request('POST', `threads/${thread_id}/runs/wait`, {
    assistant_id: 'helper',
    input: { messages: [{ role: 'user', content }] },
  });
  const opened = await console.open(`${playground}?thread=${thread_id}`);
  const { page } = opened;
  await page.route(address, (route) => route.fulfill({ contentType: 'image/png', body: Buffer.from(png, 'base64') }));
  const images = chat(page).getByRole('img');
  await images.first().waitFor();
  const drawn = () =>
    images.evaluateAll((all) => all.map((image) => ('naturalWidth' in image ? image.naturalWidth : undefined)));
  await expect.poll(drawn).toEqual([1]);
  await expectAccessible(page);
  expectClean(opened);
  await press(button(page, 'Show the image of pictures.example'));
  await expect.poll(drawn).toEqual([1, 1]);
  expect(opened.errors).toEqual([]);
});

test('asks again before an image that took the place of a shown one', async () => {
  const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  const shown = (host: string) => [
    { type: 'text', text: `![first](https://${host}/a.png)` },
    { type: 'image_url', image_url: { url: `https://${host}/b.png` } },
  ];
  const said = (host: string) => ({ messages: [{ id: 'pictures', role: 'user', content: shown(host) }] });
  const { thread_id } = z.looseObject({ thread_id: z.string() }).parse(await request('POST', 'threads', {}));
  await request('POST', `threads/${thread_id}/runs/wait`, { assistant_id: 'helper', input: said('friend.example') });
  const { page } = await console.open(`${playground}?thread=${thread_id}`);
  const requested: string[] = [];
  await page.route('https://*.example/*', (route) => {
    requested.push(new URL(route.request().url()).host);
    return route.fulfill({ contentType: 'image/png', body: Buffer.from(png, 'base64') });
  });
  // The agent repeats the text in a message of its own.
  const pictures = chat(page).locator('.playground-human').first();
  const askedFor = (host: string) => pictures.getByRole('button', { name: `Show the image of ${host}` });
  await press(askedFor('friend.example').first());
  await expect.poll(() => askedFor('friend.example').count()).toBe(1);
  await press(askedFor('friend.example'));
  await expect.poll(() => requested).toEqual(['friend.example', 'friend.example']);
  // Of the same length: only the host differs.
  await request('POST', `threads/${thread_id}/state`, { values: said('others.example') });
  await say(page, 'hello');
  await ended(page, 'Success');
  await expect.poll(() => askedFor('others.example').count()).toBe(2);
  expect(new Set(requested)).toEqual(new Set(['friend.example']));
});
