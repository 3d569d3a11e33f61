import { silentLogger } from '../../../../src/kit/logger.ts';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { runQueue } from '../../../../src/services/agent/runs/queue.ts';
import { RunStore } from '../../../../src/services/agent/runs/store.ts';
import { openStorage } from '../../../../src/services/agent/storage/open.ts';
import type { Storage } from '../../../../src/services/agent/storage/open.ts';
import { systemClock } from '../../../../src/kit/clock.ts';
import { startTestPostgres } from '../../../kit/postgres/postgres.ts';
import type { TestPostgres } from '../../../kit/postgres/postgres.ts';

/** The number of waiting runs in one process. */
const MANY = 10_000;
/** Time limit (ms) on a busy machine. If each run read all others, it would take minutes. */
const BOUND_MS = 20_000;

const busy = randomUUID();
let postgres: TestPostgres;
let storage: Storage;
beforeAll(async () => {
  postgres = await startTestPostgres();
  storage = await openStorage(postgres.url, busy, silentLogger);
  // The index of cron runs is created in the background, and its lock and that of `analyze` exclude each other.
  await vi.waitFor(
    async () => {
      const { rows } = await storage.pool.query(
        "select 1 from pg_index where indexrelid = to_regclass('runs_of_crons') and indisvalid",
      );
      if (rows.length === 0) throw new Error('there is no index of cron runs yet');
    },
    { timeout: 300_000 },
  );
  const insert = (count: number, status: string, end: string) =>
    storage.pool.query(
      `insert into runs (run_id, thread_id, assistant_id, graph_id, status, metadata, kwargs, multitask_strategy, temporary,
         detached, process_id, created_at, updated_at, ended_at)
       select gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'echo', '${status}', '{}', '{}', 'enqueue', false,
         true, $1, now(), now() - interval '1 minute', ${end} from generate_series(1, ${count})`,
      [busy],
    );
  // At the last statistics update all runs had ended: the database plans with that during a burst.
  await insert(20_000, 'success', 'now()');
  await storage.pool.query('analyze runs');
  await insert(MANY, 'pending', 'null');
  await storage.pool.query("insert into processes values ($1, now() + interval '1 hour')", [busy]);
});
afterAll(async () => {
  await storage.close();
  await postgres.stop();
});

const lookedFor = { hasRoom: true, graphs: ['echo'], limit: 100 };

test('each of many waiting runs is polled on its own, by every process', async () => {
  // On both connections: a slow query must not outlive the test.
  const bound = () => storage.pool.query(`set statement_timeout = ${BOUND_MS}`);
  await Promise.all([bound(), bound()]);
  const { rows } = await storage.pool.query<{ run_id: string }>("select run_id from runs where status = 'pending'");
  const ids = rows.map(({ run_id }) => run_id);
  const [own, other] = [busy, randomUUID()].map((id) => runQueue(storage, id, systemClock));
  const store = new RunStore(storage, busy, systemClock);
  const began = performance.now();
  // From the sixth execution on, a prepared statement is planned without its values.
  for (let time = 0; time < 8; time += 1) {
    expect(await own?.claimable({ ...lookedFor, inHand: ids })).toEqual([]);
    expect(await store.claim(ids[time] ?? '')).toBe(true);
  }
  const taken = await other?.claimable({ ...lookedFor, inHand: [] });
  expect(taken).toHaveLength(100);
  expect(taken?.every(({ because }) => because === 'waits-for-a-slot')).toBe(true);
  expect(performance.now() - began).toBeLessThan(BOUND_MS);
});
