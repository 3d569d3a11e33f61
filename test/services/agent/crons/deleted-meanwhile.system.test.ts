import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { RunStore } from '../../../../src/services/agent/runs/store.ts';
import { openStorage } from '../../../../src/services/agent/storage/open.ts';
import { systemClock } from '../../../../src/kit/clock.ts';
import { silentLogger } from '../../../../src/kit/logger.ts';
import { startTestPostgres } from '../../../kit/postgres/postgres.ts';
import { until } from '../promises/fixture.ts';

const [processId, assistantId, cronId, runId] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];

test('a run of a cron that is deleted meanwhile ends as it does otherwise', async () => {
  await using closing = new AsyncDisposableStack();
  const postgres = closing.adopt(await startTestPostgres(), (it) => it.stop());
  const storage = closing.adopt(await openStorage(postgres.url, processId, silentLogger), (it) => it.close());
  const { pool } = storage;
  await pool.query(
    `insert into assistants (assistant_id, graph_id, name, config, context, metadata, version, created_at, updated_at)
     values ($1, 'echo', 'echo', '{}', '{}', '{}', 1, now(), now())`,
    [assistantId],
  );
  await pool.query(
    `insert into crons (cron_id, assistant_id, schedule, enabled, payload, metadata, created_at, updated_at)
     values ($1, $2, '0 9 * * *', true, '{}', '{}', now(), now())`,
    [cronId, assistantId],
  );
  await pool.query(
    `insert into runs (run_id, thread_id, assistant_id, graph_id, status, metadata, kwargs, multitask_strategy, temporary,
       detached, process_id, created_at, updated_at)
     values ($1, $1, $2, 'echo', 'running', jsonb_build_object('cron_id', $3::text), '{}', 'enqueue', true, false, $4, now(), now())`,
    [runId, assistantId, cronId, processId],
  );
  const deleting = await pool.connect();
  closing.defer(() => deleting.release(true));
  await deleting.query('begin');
  await deleting.query('delete from crons where cron_id = $1', [cronId]);
  const end = { status: 'success' as const, values: undefined, interrupts: '{}', unfinishedState: false };
  const ended = new RunStore(storage, processId, systemClock).end({ runId, temporary: true, webhook: undefined }, end);
  await until(async () => {
    // A transaction sees the same activity until then.
    await deleting.query('select pg_stat_clear_snapshot()');
    const { rowCount } = await deleting.query("select from pg_stat_activity where wait_event_type = 'Lock'");
    return rowCount === 0 ? undefined : true;
  });
  await deleting.query('commit');
  expect(await ended).toBe(true);
  expect((await deleting.query('select from runs')).rowCount).toBe(0);
});
