import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { operate, deliveryLines, jobLines, reachDatabase, type OperateCommand } from '../../../app/operate/operate.ts';
import { countJobs, failingJobs } from '../../../src/kit/postgres/queue-jobs.ts';
import { runHere } from '../../cli/run-cli.ts';
import { startTestPostgres, type TestPostgres } from '../../kit/postgres/postgres.ts';
import { delivery, openInbox, type TestInbox } from '../inbox/inbox.ts';

let postgres: TestPostgres;
let inbox: TestInbox;
beforeAll(async () => {
  postgres = await startTestPostgres();
  inbox = await openInbox(postgres.url);
});
afterAll(async () => {
  await inbox.close();
  await postgres.stop();
});
beforeEach(async () => {
  await inbox.store(delivery());
  await inbox.database.pool.query('delete from app.deliveries; delete from pgboss.job');
});

async function ask(command: OperateCommand, env: Record<string, string> = { DATABASE_URL: postgres.url }) {
  const output: string[] = [];
  const complained: string[] = [];
  const hidden: string[] = [];
  let result: unknown;
  const done = await operate(
    command,
    { folder: tmpdir(), env },
    {
      print: (line) => output.push(line),
      complain: (line) => complained.push(line),
      hide: (secret) => hidden.push(secret),
      masked: (text) => text,
      conclude: (value) => (result = value),
    },
  );
  return { done, output, complained, hidden, result };
}

/** Has a job of this name fail, for good or for now. */
async function failing(name: string, id: string, retryLimit: number): Promise<void> {
  await inbox.queue.define(name, { retryLimit, retryDelay: 600 });
  await inbox.queue.work<{ id: string }>(name, { pollSeconds: 0.5 }, async () => {
    throw new Error('GitHub refuses\nthis');
  });
  await inbox.queue.send(name, { id: 'subject' }, { id });
  await expect.poll(async () => (await failingJobs(inbox.database.pool, 10)).map((job) => job.id)).toContain(id);
}

describe('failing jobs', () => {
  test('are listed with their errors, and retried on command', async () => {
    const [forGood, forNow] = [randomUUID(), randomUUID()];
    await failing('reported-once', forGood, 0);
    await failing('reported-often', forNow, 5);
    const listed = await ask({ kind: 'jobs', limit: 10 });
    expect(listed.done).toBe(true);
    const output = listed.output.join('\n');
    expect(output).toMatch(
      new RegExp(`${forGood} {2}reported-once {2}failed for good .* after one attempt {2}\\{"id":"subject"\\}`),
    );
    expect(output).toMatch(new RegExp(`${forNow} {2}reported-often {2}comes again .*`));
    expect(output).toContain('    GitHub refuses this');
    expect(listed.hidden).toEqual([new URL(postgres.url).password]);
    expect(await countJobs(inbox.database.pool)).toEqual(
      expect.arrayContaining([{ name: 'reported-once', state: 'failed', count: 1 }]),
    );

    for (const [id, name] of [
      [forGood, 'reported-once'],
      [forNow, 'reported-often'],
    ] as const) {
      expect((await ask({ kind: 'retry', id })).output).toEqual([`The ${name} job ${id} runs again.`]);
      // It fails again, which shows that it ran.
      await expect
        .poll(async () => (await failingJobs(inbox.database.pool, 10)).find((job) => job.id === id)?.attempts)
        .toBeGreaterThanOrEqual(2);
    }
  });

  test('are none at first', async () => {
    expect((await ask({ kind: 'jobs', limit: 10 })).output).toEqual(['No failing jobs.']);
  });
});

describe('deliveries', () => {
  test('are listed, the newest first, with what was decided', async () => {
    const [older, newer] = [delivery({ receivedAt: 1_000 }), delivery({ receivedAt: 2_000, action: 'created' })];
    await inbox.store(older);
    await inbox.store(newer);
    await inbox.deliveries.markHandled(older.id, { kind: 'push', why: 'main moved on' });
    expect((await ask({ kind: 'deliveries', limit: 10, unhandled: false })).output).toEqual([
      `${newer.id}  1970-01-01T00:00:02.000Z  push.created  repository 7  waits`,
      `${older.id}  1970-01-01T00:00:01.000Z  push  repository 7  push: main moved on`,
    ]);
    const left = await ask({ kind: 'deliveries', limit: 10, unhandled: true });
    expect(left.result).toMatchObject({ deliveries: [{ id: newer.id }] });
  });

  test('whose job is gone get a new one; one that was handled does not', async () => {
    const one = delivery();
    await inbox.store(one);
    await inbox.database.pool.query('delete from pgboss.job');
    expect((await ask({ kind: 'retry', id: one.id })).output).toEqual([`The delivery ${one.id} is handled again.`]);
    expect(await inbox.jobs()).toBe(1);
    await inbox.deliveries.markHandled(one.id, { kind: 'ignore', why: 'a test' });
    const again = await ask({ kind: 'retry', id: one.id });
    expect(again.done).toBe(false);
    expect(again.complained[0]).toMatch(/^The delivery .* was handled /);
  });
});

test.each([
  ['an id that is none', 'push', 'push is no id of a job'],
  ['an unknown id', '11111111-2222-3333-4444-555555555555', 'No job and no delivery has the id'],
])('reports %s', async (_, id, words) => {
  const { done, complained } = await ask({ kind: 'retry', id });
  expect(done).toBe(false);
  expect(complained[0]).toContain(words);
});

test('a database in which no App ever ran has nothing to list', async () => {
  const empty = await startTestPostgres();
  onTestFinished(() => empty.stop());
  expect((await ask({ kind: 'jobs', limit: 10 }, { DATABASE_URL: empty.url })).output).toEqual(['No failing jobs.']);
});

describe('the database of the App', () => {
  test('is the one that is named', () => {
    expect(reachDatabase({ DATABASE_URL: 'postgres://u:p@h/d' })).toEqual({ ok: true, url: 'postgres://u:p@h/d' });
  });

  test('is the embedded one by default, found by its folder', () => {
    const data = mkdtempSync(join(tmpdir(), 'landfall-reach-'));
    onTestFinished(() => rmSync(data, { recursive: true }));
    mkdirSync(join(data, 'postgres/cluster'), { recursive: true });
    writeFileSync(join(data, 'postgres/port'), '5544');
    writeFileSync(join(data, 'postgres/password'), 'secret');
    expect(reachDatabase({ LANDFALL_DATA: data })).toEqual({
      ok: true,
      url: 'postgres://landfall:secret@127.0.0.1:5544/landfall?sslmode=disable',
    });
  });

  test.each([
    [{ LANDFALL_DATA: '/nowhere/at/all' }, 'There is no database of an App in /nowhere/at/all/postgres'],
    [{ DATABASE_URL: 'mysql://h' }, 'DATABASE_URL is no address of a Postgres database'],
  ])('rejects %j with advice', async (env, words) => {
    const { done, complained } = await ask({ kind: 'jobs', limit: 1 }, env);
    expect(done).toBe(false);
    expect(complained[0]).toContain(words);
  });

  test('reports a database that does not respond', async () => {
    const { done, complained } = await ask(
      { kind: 'jobs', limit: 1 },
      { DATABASE_URL: 'postgres://u:pw@127.0.0.1:9/d' },
    );
    expect(done).toBe(false);
    expect(complained[0]).toMatch(/is not reachable: .*ECONNREFUSED/);
  });
});

test('what others wrote moves no cursor', () => {
  const at = new Date(0);
  const job = { id: 'i', name: 'n', data: {}, state: 'failed', attempts: 2, createdAt: at, at } as const;
  expect(jobLines({ ...job, problem: '\u001b[2Jgone\nsecond' })[1]).toBe('    gone second');
  const shown = deliveryLines({
    id: 'i',
    event: 'push',
    action: undefined,
    installationId: undefined,
    repositoryId: undefined,
    receivedAt: 0,
    handledAt: undefined,
    decision: null,
    attempts: 2,
    lastError: 'a\u0007b',
  });
  expect(shown).toEqual(['i  1970-01-01T00:00:00.000Z  push  failed 2 attempts', '    ab']);
});

test('the command line lists jobs, and rejects a wrong limit', async () => {
  const env = { DATABASE_URL: postgres.url };
  const cwd = tmpdir();
  expect(await runHere(['app', 'jobs'], { cwd, env })).toMatchObject({ code: 0, out: 'No failing jobs.\n' });
  const json = await runHere(['app', 'deliveries', '--json'], { cwd, env });
  expect(JSON.parse(json.out)).toEqual({ deliveries: [] });
  expect(await runHere(['app', 'retry', 'x'], { cwd, env })).toMatchObject({ code: 1 });
  expect(await runHere(['app', 'jobs', '--limit', 'all'], { cwd, env })).toMatchObject({ code: 2 });
});
