import { silentLogger } from '../../../src/kit/logger.ts';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { intervalMs, startRecovery } from '../../../app/recovery/recovery-job.ts';
import type { RecoveryClients } from '../../../app/recovery/recover.ts';
import { systemClock } from '../../../src/kit/clock.ts';
import { startEmbeddedPostgres, removeEmbeddedData } from '../../../src/kit/postgres/embedded.ts';
import { HandlerFixture } from '../events/handler-fixture.ts';
import { openInbox } from '../inbox/inbox.ts';
import { enough, startApp, temporaryFolder } from '../server/child-app.ts';
import { send, startIntake } from '../server/intake.ts';

async function* nothing(): AsyncGenerator<never> {
  yield* [];
}

test('a webhook missed while the database was down is requested once it is back', async () => {
  const folder = temporaryFolder();
  chmodSync(folder, 0o711);
  const dataDir = join(folder, 'postgres');
  const start = () => startEmbeddedPostgres({ dataDir, log: silentLogger, settings: { fsync: 'off' } });
  let server = await start();
  const inbox = await openInbox(server.url);
  const leaving = new AbortController();
  onTestFinished(async () => {
    leaving.abort();
    await inbox.close();
    await server.stop();
    await removeEmbeddedData({ dataDir, log: silentLogger });
  });

  // Early in a slot: the run of the next one is minutes away.
  const offset = intervalMs * 1.05 - (systemClock.now() % intervalMs);
  const clock = { ...systemClock, now: () => systemClock.now() + offset };
  const missed: string[] = [];
  const again = Promise.withResolvers<string>();
  const runs: string[][] = [];
  const started = Promise.withResolvers<void>();
  const clients: RecoveryClients = {
    deliveries: {
      page: async () => {
        runs.push([...missed]);
        started.resolve();
        const tried = { event: 'push', deliveredAt: clock.now(), redelivery: false, statusCode: 503 };
        return { deliveries: missed.map((guid, id) => ({ ...tried, id, guid })) };
      },
      requestRedelivery: async (id) => {
        const guid = missed[id] ?? '';
        again.resolve(await (await send(url, { id: guid })).text());
      },
    },
    inbox: { neverReceived: (ids) => inbox.deliveries.neverReceived(ids), prune: async () => 0 },
    repositories: { repositories: () => nothing() },
    enqueueReports: async () => undefined,
  };
  const context = { ...new HandlerFixture().context, clock };
  const lookAfterOutage = await startRecovery(inbox.queue, context, clients, leaving.signal);
  const { url } = await startIntake({ store: inbox.store, onUnstored: lookAfterOutage });
  await started.promise;

  await server.stop();
  for (const id of [randomUUID(), randomUUID()]) {
    expect((await send(url, { id })).status).toBe(503);
    missed.push(id);
  }
  server = await start();
  expect(await again.promise).toBe('stored\n');
  await expect.poll(() => inbox.deliveries.neverReceived(missed)).toEqual([]);
  expect(runs).toEqual([[], missed]);
});

test('the App notices an outage by a webhook that it could not store', async () => {
  const folder = temporaryFolder();
  chmodSync(folder, 0o711);
  const dataDir = join(folder, 'postgres');
  const start = () => startEmbeddedPostgres({ dataDir, log: silentLogger, settings: { fsync: 'off' } });
  let server = await start();
  onTestFinished(async () => {
    await server.stop();
    await removeEmbeddedData({ dataDir, log: silentLogger });
  });
  // Early in a slot of the App's time: no run but the one after the outage comes before the test is over.
  const offset = Math.round(intervalMs * 1.05 - (systemClock.now() % intervalMs));
  const shiftFile = join(folder, 'ms');
  writeFileSync(shiftFile, String(offset));
  const id = randomUUID();
  let isMissed = false;
  const requested = Promise.withResolvers<void>();
  const gitHub = createServer((request, response) => {
    if (request.method === 'POST' && request.url?.startsWith('/app/hook/deliveries/7/')) requested.resolve();
    const held = {
      id: 7,
      guid: id,
      event: 'push',
      delivered_at: new Date(systemClock.now() + offset).toISOString(),
      redelivery: false,
    };
    const isList = isMissed && request.url?.startsWith('/app/hook/deliveries') && request.method === 'GET';
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(isList ? [{ ...held, status: 'Service Unavailable', status_code: 503 }] : []));
  }).listen(0, '127.0.0.1');
  await once(gitHub, 'listening');
  onTestFinished(() => void gitHub.close());
  const address = gitHub.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const app = startApp({
    ...enough,
    GITHUB_API_URL: `http://127.0.0.1:${port}`,
    DATABASE_URL: server.url,
    NODE_OPTIONS: `--import ${new URL('../../journey/shifted-clock.mjs', import.meta.url).href}`,
    LANDFALL_SHIFT_FILE: shiftFile,
  });
  const url = await app.listening();
  await expect.poll(() => app.said.out).toContain('Recovery is done');
  await server.stop();
  expect((await send(url, { id })).status).toBe(503);
  isMissed = true;
  server = await start();
  await requested.promise;
  app.child.kill('SIGTERM');
  expect(await app.ended).toBe(0);
});
