import { silentLogger } from '../../../../src/kit/logger.ts';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RunStore } from '../../../../src/services/agent/runs/store.ts';
import { runWritesTask } from '../../../../src/services/agent/runs/undo-statements.ts';
import { openStorage } from '../../../../src/services/agent/storage/open.ts';
import type { Storage } from '../../../../src/services/agent/storage/open.ts';
import { systemClock } from '../../../../src/kit/clock.ts';
import { startTestPostgres } from '../../../kit/postgres/postgres.ts';
import type { TestPostgres } from '../../../kit/postgres/postgres.ts';

let postgres: TestPostgres;
let storage: Storage;
beforeAll(async () => {
  postgres = await startTestPostgres();
  storage = await openStorage(postgres.url, randomUUID(), silentLogger);
});
afterAll(async () => {
  await storage.close();
  await postgres.stop();
});

test('a process presumed dead takes no answer from a run continued by another', async () => {
  const [mine, former, runId, threadId] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
  await storage.pool.query(
    `insert into runs (run_id, thread_id, assistant_id, graph_id, status, metadata, kwargs, multitask_strategy, temporary,
       detached, process_id, created_at, updated_at)
     values ($1, $2, $1, 'interrupts', 'running', '{}', '{}', 'enqueue', false, true, $3, now(), now())`,
    [runId, threadId, mine],
  );
  await storage.pool.query(
    `insert into checkpoint_writes (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, blob)
     values ($1, '', 'one', $2, -4, '__resume__', '')`,
    [threadId, runWritesTask],
  );
  const answers = async () => (await storage.pool.query('select from checkpoint_writes')).rowCount;
  await new RunStore(storage, former, systemClock).formerAnswersTaken({ threadId, runId });
  expect(await answers()).toBe(1);
  await new RunStore(storage, mine, systemClock).formerAnswersTaken({ threadId, runId });
  expect(await answers()).toBe(0);
});
