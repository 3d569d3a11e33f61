import { sql } from 'kysely';
import type { Storage } from '../storage/open.ts';

/** A run that has ended and that was not told yet: what is told of it, as JSON. */
export interface PendingRun {
  sequence: string;
  run: unknown;
}

/** The most runs that wait to be told: of more the oldest are given up. */
const maxPendingRuns = 10_000;

/**
 * Runs that have ended and have still to be told. They are put there by the statement that ends them (`runs/statements.ts`),
 * so that no run ends untold; all processes of a deployment have the one outbox, so that the next one goes on.
 */
export class Outbox {
  readonly #storage: Storage;

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  /** The oldest ones. */
  async oldest(limit: number): Promise<PendingRun[]> {
    return this.#storage.db.selectFrom('trace_outbox').selectAll().orderBy('sequence').limit(limit).execute();
  }

  /** Forgets those that were told. */
  async forget(sequences: readonly string[]): Promise<void> {
    if (sequences.length === 0) return;
    await this.#storage.db.deleteFrom('trace_outbox').where('sequence', 'in', sequences).execute();
  }

  /** Gives up the oldest of too many. How many that were. */
  async shorten(): Promise<number> {
    const { numDeletedRows } = await this.#storage.db
      .deleteFrom('trace_outbox')
      .where('sequence', '<=', (of) =>
        of.selectFrom('trace_outbox').select('sequence').orderBy('sequence', 'desc').limit(1).offset(maxPendingRuns),
      )
      .executeTakeFirstOrThrow();
    return Number(numDeletedRows);
  }

  /** Gives all of them up: there is nobody to be told. */
  async empty(): Promise<void> {
    await sql`delete from trace_outbox`.execute(this.#storage.db);
  }
}
