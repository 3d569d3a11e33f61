import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import * as z from 'zod';
import { CheckpointWriteTracker } from '../../../src/agent-server/graphs/checkpoint-writes.ts';
import { Checkpoints } from '../../../src/agent-server/graphs/checkpoints.ts';
import { answerAboutCheckpoints } from '../../../src/agent-server/python/checkpoint-requests.ts';
import { Connection } from '../../../src/agent-server/python/connection.ts';
import { opaqueSerializer } from '../../../src/agent-server/python/opaque.ts';
import { openStorage } from '../../../src/agent-server/storage/open.ts';
import { silentLogger } from '../../../src/logger.ts';
import { endWithTest } from '../../child-process.ts';
import { startTestPostgres } from '../../postgres/postgres.ts';
import { describePython } from '../../python/needs-python.ts';

const Report = z.record(
  z.string(),
  z.object({ detected: z.boolean(), passed: z.boolean().nullable(), failures: z.array(z.string()) }),
);

/** Checkpoints in a database of their own, as the graphs of a deployment have them. */
async function openCheckpoints(): Promise<Checkpoints> {
  const postgres = await startTestPostgres();
  onTestFinished(() => postgres.stop());
  const storage = await openStorage(postgres.url, randomUUID(), silentLogger);
  onTestFinished(() => storage.close());
  const engine = { serializer: opaqueSerializer, keepsPendingSends: false };
  return new Checkpoints(storage.pool, engine, new CheckpointWriteTracker());
}

/** Starts a program of `python/tests` that speaks the protocol of the worker. */
async function connectTo(python: string, program: string): Promise<Connection> {
  const place = await mkdtemp(join(tmpdir(), 'python-'));
  const server = createServer().listen(join(place, 'socket'));
  await once(server, 'listening');
  const folder = join(import.meta.dirname, '../../../python');
  const child = endWithTest(
    spawn(python, [join(folder, 'tests', program), join(place, 'socket')], {
      env: { PATH: process.env['PATH'], PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: '1' },
    }),
  );
  const exited = once(child, 'exit').then(() => Promise.reject(new Error(`${program} has ended.`)));
  exited.catch(() => undefined);
  const [socket]: Socket[] = await Promise.race([once(server, 'connection'), exited]);
  if (socket === undefined) throw new Error(`${program} has not connected.`);
  server.close();
  await rm(place, { recursive: true });
  const connection = new Connection(socket, {});
  onTestFinished(() => connection.end(new Error('The test is over.')));
  return connection;
}

describePython('the checkpoints of a worker', (python) => {
  test('pass the public suite for checkpointers', async () => {
    const checkpoints = await openCheckpoints();
    const connection = await connectTo(python, 'checkpointer_conformance.py');
    const { value } = await connection.ask(
      'report',
      {},
      {
        answer: async (asked) => {
          if (asked.op !== 'checkpoint.delete') return answerAboutCheckpoints(asked, checkpoints);
          await checkpoints.deleteThread(z.object({ thread_id: z.string() }).parse(asked.args).thread_id);
          return {};
        },
      },
    );
    const passed = { detected: true, passed: true, failures: [] };
    // The server copies and prunes threads and deletes runs itself, with queries on what it need not read.
    const notOffered = { detected: false, passed: null, failures: [] };
    expect(Report.parse(value)).toEqual({
      put: passed,
      put_writes: passed,
      get_tuple: passed,
      list: passed,
      delete_thread: passed,
      delete_for_runs: notOffered,
      copy_thread: notOffered,
      prune: notOffered,
    });
  });
});
