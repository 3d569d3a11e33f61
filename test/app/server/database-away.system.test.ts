import { silentLogger } from '../../../src/kit/logger.ts';
import { randomUUID } from 'node:crypto';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startEmbeddedPostgres, removeEmbeddedData } from '../../../src/kit/postgres/embedded.ts';
import { openInbox } from '../inbox/inbox.ts';
import { temporaryFolder } from './child-app.ts';
import { send, startIntake } from './intake.ts';

test('responds 503 to webhooks while the database is down, and stores them afterwards', async () => {
  const folder = temporaryFolder();
  chmodSync(folder, 0o711);
  const dataDir = join(folder, 'postgres');
  const start = () => startEmbeddedPostgres({ dataDir, log: silentLogger, settings: { fsync: 'off' } });
  let server = await start();
  const inbox = await openInbox(server.url);
  onTestFinished(async () => {
    await inbox.close();
    await server.stop();
    await removeEmbeddedData({ dataDir, log: silentLogger });
  });
  const { url, logged } = await startIntake({ store: inbox.store });
  expect((await send(url)).status).toBe(202);

  await server.stop();
  const ids = Array.from({ length: 5 }, () => randomUUID());
  const answers = await Promise.all(ids.map((id) => send(url, { id })));
  expect(answers.map(({ status }) => status)).toEqual([503, 503, 503, 503, 503]);
  expect(answers.every(({ headers }) => headers.get('retry-after') === '10')).toBe(true);
  expect(logged).toContain(
    'A webhook could not be stored: the database is unavailable. The App requests it from GitHub later.',
  );

  server = await start();
  await expect.poll(async () => (await send(url, { id: ids[0] ?? '' })).status).toBe(202);
  const again = await Promise.all(ids.map((id) => send(url, { id }).then((answer) => answer.text())));
  expect(again).toEqual(['known\n', 'stored\n', 'stored\n', 'stored\n', 'stored\n']);
  expect(await inbox.rows()).toBe(6);
});
