import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Deployment } from '../../src/contract/control/deployment.ts';
import { logPage, type LogEntry } from '../../src/contract/control/log.ts';
import type { Repository } from '../../src/demo/repository.ts';
import { dropAgentDatabases } from '../services/control/databases-of.ts';
import { startTestPostgres, type TestPostgres } from '../kit/postgres/postgres.ts';
import { expectAccessible, expectClean, openConsoleFixture, type ConsoleFixture } from './fixture.ts';
import { choose, press, reach } from './keyboard.ts';

let postgres: TestPostgres;
let fixture: ConsoleFixture;
let database: Client;
let repository: Repository;
/** A file without which a build waits. */
let gate: string;
let echo: Deployment;

beforeAll(async () => {
  postgres = await startTestPostgres();
  database = new Client(postgres.url);
  await database.connect();
  fixture = await openConsoleFixture({ ownPostgres: true, env: { ...process.env, DATABASE_URL: postgres.url } });
  repository = await fixture.repository('echo-agent');
  gate = join(fixture.services.folder, 'git', 'gate');
});
afterAll(async () => {
  await fixture.close();
  await database.end();
  await dropAgentDatabases(postgres.url);
  await postgres.stop();
});

const pageOf = (deployment: Deployment, more = ''): string =>
  `deployments/${deployment.id}/revisions/${deployment.latest_revision_id}${more}`;

/** Writes lines into a log, as the service stores them. */
async function write(revisionId: string | null, kind: 'build' | 'deploy', messages: readonly string[], level = 'info') {
  await database.query(
    `insert into control.log_lines (revision_id, kind, level, message, at)
     select $1, $2, $3, message, now() from unnest($4::text[]) with ordinality as line (message, place) order by place`,
    [revisionId, kind, level, messages],
  );
}

/** All lines of a log, by the API. */
async function readAll({ id, latest_revision_id }: Deployment, kind: 'build' | 'deploy'): Promise<LogEntry[]> {
  const lines: LogEntry[] = [];
  for (let offset = ''; ;) {
    const url = `${fixture.services.service.url}/v2/deployments/${id}/revisions/${latest_revision_id}/logs?kind=${kind}&order=asc&limit=1000&offset=${offset}`;
    const response = await fetch(url, { headers: { 'x-api-key': fixture.services.service.apiKey } });
    const { logs } = logPage.parse(await response.json());
    lines.push(...logs);
    if (logs.length < 1000) return lines;
    offset = String(logs.at(-1)?.id);
  }
}

const logOf = (page: Page, name: string): Locator => page.getByRole('log', { name });
const countOf = (page: Page): Locator => page.getByTestId('log-count');
/** What a line shows, without its number, time and level. */
const textOf = (page: Page, number?: number): Locator =>
  page.locator(number === undefined ? '.log-text' : `[data-number="${number}"] .log-text`);

/** An install command that waits in the middle of a build. */
const waitScript = (gate: string): string => `
  import { existsSync } from 'node:fs';
  import { setTimeout as pause } from 'node:timers/promises';
  console.log('waiting for the gate');
  while (!existsSync(${JSON.stringify(gate)})) await pause(100);
  console.log('through the gate');
  await import('./link.mjs');
`;

test('shows a build as it happens, and then the stages and both logs', async () => {
  const { control } = fixture.services;
  await writeFile(join(repository.folder, 'wait.mjs'), waitScript(gate));
  await repository.commit('Wait for the gate');
  const created = await fixture.create('echo-agent', repository.folder, 'node wait.mjs');
  const opened = await fixture.open(pageOf(created));
  const { page } = opened;
  await textOf(page).getByText('waiting for the gate', { exact: true }).waitFor();
  await page.getByText('Building', { exact: true }).first().waitFor();
  await page.getByText('so far').first().waitFor();
  await page.getByText('Connected', { exact: true }).waitFor();
  await expectAccessible(page);
  await writeFile(gate, '');
  await textOf(page).getByText('through the gate', { exact: true }).waitFor();
  await page
    .getByRole('region', { name: /^Revision / })
    .getByText('Live', { exact: true })
    .waitFor({ timeout: 120_000 });
  await page.getByRole('region', { name: 'The agent' }).getByRole('link', { name: 'Open the playground' }).waitFor();
  await page.getByText('Complete', { exact: true }).waitFor();
  echo = await control.getDeployment(created.id);

  const built = await readAll(echo, 'build');
  await expect.poll(() => countOf(page).textContent()).toBe(`${built.length} lines`);
  await textOf(page, built.length - 1)
    .getByText(built.at(-1)?.message ?? '', { exact: true })
    .waitFor();
  // Only what a reader chose is in the address: another visit opens the log that matters then.
  expect(new URL(page.url()).search).toBe('');
  await press(page.getByRole('tab', { name: 'Agent log' }));
  await logOf(page, 'Agent log').waitFor();
  expect(new URL(page.url()).search).toBe('?log=agent');
  const { url, apiKey } = fixture.services.service;
  await fetch(`${url}/agents/${echo.id}/runs/wait`, {
    method: 'POST',
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ assistant_id: 'echo', input: { input: 'Ada', fail: 'the model is away' } }),
  });
  await textOf(page).getByText('the model is away').first().waitFor();
  await expectAccessible(page);
  expectClean(opened);
});

test('interrupts a revision that is built, and says what serves and what to do', async () => {
  const { control } = fixture.services;
  await rm(gate);
  await writeFile(join(repository.folder, 'README.md'), 'Another commit.');
  await repository.commit('Change the page about it');
  const patched = await control.patchDeployment(echo.id, { source_revision_config: { repo_ref: 'main' } });
  const opened = await fixture.open(pageOf(patched));
  const { page } = opened;
  await textOf(page).getByText('waiting for the gate', { exact: true }).waitFor();
  await press(page.getByRole('button', { name: 'Interrupt', exact: true }));
  await press(page.getByRole('dialog').getByRole('button', { name: 'Interrupt', exact: true }));
  await page.getByRole('heading', { name: 'This revision was interrupted' }).waitFor();
  await page.getByText('The revision before still serves all requests.').waitFor();
  await page.getByText('Complete', { exact: true }).waitFor();
  expect((await control.getRevision(echo.id, patched.latest_revision_id ?? '')).status).toBe('INTERRUPTED');
  await expectAccessible(page);
  expectClean(opened);
});

test('continues after the service was killed, with each line once', async () => {
  const opened = await fixture.open(pageOf(echo, '?log=agent'));
  const { page } = opened;
  await page.getByText('Connected', { exact: true }).waitFor();
  await write(echo.latest_revision_id, 'deploy', ['before the kill']);
  await textOf(page).getByText('before the kill').waitFor();
  await fixture.services.kill();
  await page.getByText('Reconnecting', { exact: true }).waitFor();
  await write(echo.latest_revision_id, 'deploy', ['while the service is away']);
  await fixture.services.startAgain();
  await textOf(page).getByText('while the service is away').waitFor({ timeout: 120_000 });
  await page.getByText('Reconnecting', { exact: true }).waitFor({ state: 'detached', timeout: 120_000 });
  await write(echo.latest_revision_id, 'deploy', ['after the start']);
  await textOf(page).getByText('after the start').waitFor();

  const lines = await readAll(echo, 'deploy');
  await expect.poll(() => countOf(page).textContent()).toBe(`${lines.length} lines`);
  for (const [number, { message }] of lines.entries()) {
    if (number % 7 !== 0 && number < lines.length - 3) continue;
    await page.evaluate(`location.hash = 'L${lines[number]?.id}'`);
    await expect.poll(() => textOf(page, number).textContent()).toBe(message);
  }
  expect(opened.externalRequests).toEqual([]);
});

test('lists the interpreter and the packages of an agent in Python', async () => {
  const locks = join(fixture.services.folder, 'data/locks', echo.latest_revision_id ?? '');
  await mkdir(locks, { recursive: true });
  await writeFile(join(locks, 'python-packages.txt'), '# Python 3.11.2\nlanggraph==1.2.24\nhttpx==0.28.1\n');
  const opened = await fixture.open(pageOf(echo));
  const { page } = opened;
  await page.getByText('2 packages', { exact: true }).waitFor();
  await press(page.locator('.revision-packages summary'));
  await page.getByRole('heading', { name: 'Python 3.11.2' }).waitFor();
  expect(await page.getByRole('table', { name: 'Packages' }).getByRole('row').allTextContents()).toEqual([
    'PackageVersion',
    'langgraph1.2.24',
    'httpx0.28.1',
  ]);
  await expectAccessible(page);
  expectClean(opened);
});

test('scrolls, searches and links to lines among 100,000', async () => {
  const { id } = await fixture.create('many-lines', join(fixture.services.folder, 'git', 'none'));
  const { control } = fixture.services;
  const failed = await control.getDeployment(id);
  await expect
    .poll(async () => (await control.getRevision(id, failed.latest_revision_id ?? '')).status)
    .toBe('BUILD_FAILED');
  const before = (await readAll(failed, 'build')).length;
  const messages = Array.from({ length: 100_000 }, (_, at) => `request ${at} took ${at % 977} ms`);
  await write(failed.latest_revision_id, 'build', messages);

  const opened = await fixture.open(pageOf(failed));
  const { page } = opened;
  const log = logOf(page, 'Build log');
  await expect
    .poll(() => countOf(page).textContent(), { timeout: 120_000 })
    .toBe(`${(before + 100_000).toLocaleString('en')} lines`);
  const last = before + 99_999;
  // The end is followed until the reader scrolls up.
  await textOf(page, last).waitFor();
  await reach(log);
  await page.keyboard.press('Home');
  await textOf(page, 0).waitFor();
  const follow = page.getByRole('button', { name: 'Follow' });
  await expect.poll(() => follow.getAttribute('aria-pressed')).toBe('false');
  await page.keyboard.press('PageDown');
  await expect.poll(() => log.evaluate((element) => element.scrollTop)).toBeGreaterThan(100);
  // Only what is in view is in the page.
  await expect.poll(() => page.locator('.log-row').count()).toBeLessThan(120);

  // A search.
  await page.keyboard.press('/');
  await page.keyboard.type('TOOK 976 ms');
  await page.getByText('102 lines', { exact: true }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByText('1 of 102 lines').waitFor();
  await page.keyboard.press('Shift+Enter');
  await page.getByText('102 of 102 lines').waitFor();
  const lastMatch = before + 976 + 101 * 977;
  await textOf(page, lastMatch).locator('mark').getByText('took 976 ms').waitFor();
  await press(page.getByRole('checkbox', { name: 'Only matching lines' }));
  await page.getByText('102 shown').waitFor();
  await expect.poll(() => page.locator('.log-row').count()).toBeLessThan(103);
  await expectAccessible(page);

  // The selected line is in the address: another browser opens there.
  await page.getByRole('button', { name: 'Copy a link' }).waitFor();
  const middle = before + 50_000;
  const lineId = (
    await database.query<{ id: string }>(
      `select id from control.log_lines where revision_id = $1 and kind = 'build' order by id offset $2 limit 1`,
      [failed.latest_revision_id, middle],
    )
  ).rows[0]?.id;
  const linked = await fixture.open(pageOf(failed, `?log=build#L${lineId}`));
  await textOf(linked.page, middle).getByText('request 50000 took').waitFor({ timeout: 120_000 });
  await linked.page.getByRole('region', { name: `Line ${middle + 1}` }).waitFor();
  // A click on a number selects that line instead: for pointers alone, as arrows select lines of the log.
  // oxlint-disable-next-line no-restricted-properties
  await linked.page.getByRole('link', { name: `Line ${middle + 2}`, exact: true }).click();
  expect(new URL(linked.page.url()).hash).toMatch(/^#L\d+$/);
  await linked.page.getByRole('region', { name: `Line ${middle + 2}` }).waitFor();
  const downloading = linked.page.waitForEvent('download');
  await press(linked.page.getByRole('button', { name: 'Download' }));
  const text = await readFile(await (await downloading).path(), 'utf8');
  expect(text.trimEnd().split('\n')).toHaveLength(before + 100_000);

  // What a person can do about the failed build.
  await page.getByRole('heading', { name: 'The build failed' }).waitFor();
  await page.getByText('No revision serves now').waitFor();
  await expect.poll(() => page.getByRole('link', { name: 'Redeploy or roll back' }).getAttribute('href')).toContain(id);
  for (const each of [opened, linked]) expectClean(each);
});

test('shows hostile lines as text, and JSON lines with their message first', async () => {
  const hostile = [
    '<script>window.ran = true</script><img src=x onerror="window.ran = true">',
    '\u001B[31mred\u001B[0m \u001B]8;;javascript:window.ran=true\u0007link\u001B]8;;\u0007 \u001B[2Jcleared',
    'txt.\u202Eexe.moc\u2066',
    'control \u0001\u0007 characters',
    `long ${'x'.repeat(1_000_000)} end`,
    '{"level":50,"msg":"agent failed","user":"<b>ada</b>","nested":{"tries":3}}',
  ];
  await write(echo.latest_revision_id, 'deploy', hostile);
  const opened = await fixture.open(pageOf(echo, '?log=agent'), { viewport: { width: 360, height: 740 } });
  const { page } = opened;
  const [script, ansi, marks, controls, long, json] = hostile.map((_, at) =>
    page
      .locator('.log-row')
      .nth(at - hostile.length)
      .locator('.log-text'),
  );
  await expect.poll(() => json?.textContent()).toBe('agent failed user=<b>ada</b> nested={"tries":3}');
  await expect.poll(() => long?.textContent()).toMatch(/^long x{1995} … [\d,]+ more characters$/);
  await expect.poll(() => controls?.textContent()).toBe('control \uFFFD\uFFFD characters');
  await expect.poll(() => marks?.textContent()).toBe('txt.\uFFFDexe.moc\uFFFD');
  await expect.poll(() => ansi?.textContent()).toBe('red link cleared');
  await expect.poll(() => ansi?.locator('.tone-bad').textContent()).toBe('red');
  await expect.poll(() => script?.textContent()).toBe(hostile[0]);
  // The fields of the JSON line.
  await choose(page.getByRole('combobox', { name: 'Levels' }), 'Errors only');
  await press(logOf(page, 'Agent log'));
  const errors = (await readAll(echo, 'deploy')).filter(({ level }) => level === 'error').length;
  for (let below = 0; below < errors; below += 1) await page.keyboard.press('ArrowDown');
  await page.getByText('nested:').waitFor();
  await expect.poll(() => page.evaluate('document.documentElement.scrollWidth')).toBe(360);
  expect(await page.evaluate('Object.hasOwn(window, "ran")')).toBe(false);
  await expectAccessible(page);
  expectClean(opened);
});
