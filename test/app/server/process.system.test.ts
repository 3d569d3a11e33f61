import { silentLogger } from '../../../src/kit/logger.ts';
import { randomUUID } from 'node:crypto';
import { chmodSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { removeEmbeddedData } from '../../../src/kit/postgres/embedded.ts';
import { runCli } from '../../cli/run-cli.ts';
import { startTestPostgres, type TestPostgres } from '../../kit/postgres/postgres.ts';
import { enough, startApp, temporaryFolder } from './child-app.ts';
import { secret, send } from './intake.ts';

let postgres: TestPostgres;
let client: Client;
let watcher: Client;
beforeAll(async () => {
  postgres = await startTestPostgres();
  client = new Client({ connectionString: postgres.url });
  watcher = new Client({ connectionString: postgres.url });
  await Promise.all([client.connect(), watcher.connect()]);
});
afterAll(async () => {
  await Promise.all([client.end(), watcher.end()]);
  await postgres.stop();
});

describe('npm start', () => {
  test('without settings says what is missing, and how to start a service', async () => {
    const { ended, said } = startApp({});
    expect(await ended).toBe(2);
    expect(said.err).toContain('5 variables are missing or wrong');
    expect(said.err).toContain('npm run local');
    expect(said.out).toBe('');
  });

  test('reads .env, logs its address and what it found, and no secret', async () => {
    const folder = temporaryFolder();
    const { PORT: _, ...rest } = enough;
    const text = Object.entries({ ...rest, DATABASE_URL: postgres.url }).map(([name, value]) => `${name}=${value}`);
    writeFileSync(join(folder, '.env'), text.join('\n'));
    const app = startApp({ PORT: '0' }, folder);
    const url = await app.listening();
    expect(await (await fetch(`${url}/readyz`)).text()).toBe('ready\n');
    expect(await (await fetch(`${url}/metrics`)).text()).toContain('landfall_database_up 1');
    await expect
      .poll(() => app.said.out)
      .toContain('could not be reached (bad port). Check the network, the proxy and GITHUB_API_URL.');
    app.child.kill('SIGTERM');
    expect(await app.ended).toBe(0);
    expect(app.said.out).toContain(`Webhooks:        ${url}/api/github/webhooks`);
    expect(app.said.out).toContain('Database:        the one at DATABASE_URL');
    const all = app.said.out + app.said.err;
    for (const hidden of [secret, enough.LANDFALL_API_KEY, enough.PRIVATE_KEY, new URL(postgres.url).password]) {
      expect(all).not.toContain(hidden);
    }
  });

  test('reports a missing database', async () => {
    const { ended, said } = startApp({ ...enough, DATABASE_URL: 'postgres://user:hidden@127.0.0.1:9/none' });
    expect(await ended).toBe(1);
    expect(said.err).toMatch(/^The App did not start: The database at DATABASE_URL can't be used/);
    expect(said.err).not.toContain('hidden');
  });
});

/** A request that is still accepted would wait for the lock; a connection does not. */
const refusesConnections = (url: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () => {
      socket.destroy();
      resolve(false);
    });
    socket.once('error', () => resolve(true));
  });

test('on shutdown it accepts no more, finishes open requests, and exits within 10 s', async () => {
  const app = startApp({ ...enough, DATABASE_URL: postgres.url });
  const url = await app.listening();
  await client.query('begin; lock table app.deliveries in exclusive mode');
  const id = randomUUID();
  const underWay = send(url, { id });
  const waiting = async () =>
    (await watcher.query("select from pg_locks where relation = 'app.deliveries'::regclass and not granted")).rowCount;
  await expect.poll(waiting).toBeGreaterThan(0);
  const requested = performance.now();
  app.child.kill('SIGTERM');
  // A terminal signals the App and its parent process, which passes the signal on.
  app.child.kill('SIGTERM');
  await expect.poll(() => refusesConnections(url)).toBe(true);
  await client.query('commit');
  expect((await underWay).status).toBe(202);
  expect(await app.ended).toBe(0);
  expect(performance.now() - requested).toBeLessThan(10_000);
  expect((await client.query('select from app.deliveries where id = $1', [id])).rowCount).toBe(1);
});

test('two copies share one database', async () => {
  const [one, two] = [
    startApp({ ...enough, DATABASE_URL: postgres.url }),
    startApp({ ...enough, DATABASE_URL: postgres.url }),
  ];
  const urls = await Promise.all([one.listening(), two.listening()]);
  const ids = Array.from({ length: 10 }, () => randomUUID());
  const answers = await Promise.all(ids.flatMap((id) => urls.map((url) => send(url, { id }))));
  const reported = await Promise.all(answers.map((answer) => answer.text()));
  expect(reported.filter((text) => text === 'stored\n')).toHaveLength(10);
  expect(reported.filter((text) => text === 'known\n')).toHaveLength(10);
  const { rowCount } = await client.query('select from app.deliveries where id = any($1)', [ids]);
  expect(rowCount).toBe(10);
  const handled = 'select decision from app.deliveries where id = any($1) and handled_at is not null';
  await expect.poll(async () => (await client.query(handled, [ids])).rowCount).toBe(10);
  expect((await client.query(handled, [ids])).rows[0]).toMatchObject({ decision: { kind: expect.any(String) } });
});

test('a second App on one embedded folder refuses to start; operators still reach it', async () => {
  const folder = temporaryFolder();
  chmodSync(folder, 0o711);
  onTestFinished(() => removeEmbeddedData({ dataDir: join(folder, '.landfall/app/postgres'), log: silentLogger }));
  const first = startApp(enough, folder);
  const url = await first.listening();
  expect((await send(url)).status).toBe(202);
  const second = startApp(enough, folder);
  expect(await second.ended).toBe(1);
  expect(second.said.err).toMatch(
    /^The App did not start: The data folder .* is in use by process \d+\..*choose another/m,
  );

  const listed = await runCli(['app', 'deliveries'], { cwd: folder });
  expect(listed).toMatchObject({ code: 0, out: expect.stringMatching(/ push {2}repository 7 /) });
  first.child.kill('SIGTERM');
  expect(await first.ended).toBe(0);
  const after = await runCli(['app', 'jobs'], { cwd: folder });
  expect(after).toMatchObject({ code: 1, err: expect.stringContaining('is not reachable') });
});
