import { sql } from 'kysely';
import type { Runs } from '../runs/runs.ts';
import type { Storage } from '../storage/open.ts';

/** A snapshot of the load and the capacity. */
export interface Figures {
  /** Pending and running runs of all processes. */
  queue: { num_pending: number; num_running: number };
  /** The run slots of this process: total, used and free. */
  workers: { max: number; active: number; available: number };
  /** This process's database connections, and the statements waiting for one. */
  database: { connections: number; idle: number; waiting: number };
}

/** Takes a snapshot. */
export function figuresOf(storage: Storage, runs: Runs, atOnce: number): () => Promise<Figures> {
  return async () => {
    const query = sql<{ pending: string; running: string }>`
      select count(*) filter (where status = 'pending') as pending, count(*) filter (where status = 'running') as running
      from runs where ended_at is null`;
    const { rows } = await query.execute(storage.db);
    const active = Math.min(runs.runIds().length, atOnce);
    const { totalCount, idleCount, waitingCount } = storage.pool;
    return {
      queue: { num_pending: Number(rows[0]?.pending ?? 0), num_running: Number(rows[0]?.running ?? 0) },
      workers: { max: atOnce, active, available: atOnce - active },
      database: { connections: totalCount, idle: idleCount, waiting: waitingCount },
    };
  };
}
