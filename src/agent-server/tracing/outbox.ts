import { sql } from 'kysely';
import type { Storage } from '../storage/open.ts';

/** An ended run to export: its payload as JSON. */
export interface PendingRun {
  sequence: string;
  run: unknown;
}

/** The maximum size of the outbox: beyond it, the oldest runs are dropped. */
const maxPendingRuns = 10_000;

/**
 * The outbox of ended runs. The statement that ends a run adds it (`runs/statements.ts`), so that none is lost. All
 * processes of a deployment share it.
 */
export class Outbox {
  readonly #storage: Storage;

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  /** The oldest runs. */
  async oldest(limit: number): Promise<PendingRun[]> {
    return this.#storage.db.selectFrom('trace_outbox').selectAll().orderBy('sequence').limit(limit).execute();
  }

  /** Deletes exported runs. */
  async forget(sequences: readonly string[]): Promise<void> {
    if (sequences.length === 0) return;
    await this.#storage.db.deleteFrom('trace_outbox').where('sequence', 'in', sequences).execute();
  }

  /** Drops the oldest runs beyond the limit; returns their number. */
  async shorten(): Promise<number> {
    const { numDeletedRows } = await this.#storage.db
      .deleteFrom('trace_outbox')
      .where('sequence', '<=', (of) =>
        of.selectFrom('trace_outbox').select('sequence').orderBy('sequence', 'desc').limit(1).offset(maxPendingRuns),
      )
      .executeTakeFirstOrThrow();
    return Number(numDeletedRows);
  }

  /** Drops all runs, because the tracing project is gone. */
  async empty(): Promise<void> {
    await sql`delete from trace_outbox`.execute(this.#storage.db);
  }
}
