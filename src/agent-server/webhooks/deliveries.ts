import { sql } from 'kysely';
import type { Storage } from '../storage/open.ts';
import type { WebhookRun } from './payload.ts';

export interface Delivery extends WebhookRun {
  delivery_id: string;
  /** May hold a token: it is never logged. */
  url: string;
  /** The URL's host, empty for a loopback webhook. */
  host: string;
  /** The number of attempts, including this one. */
  attempts: number;
}

/** The columns of a delivery for a prepared statement, as in `runs/run-row.ts`. */
const storedDelivery = `d.delivery_id, d.url, d.host, d.attempts, d.run_id, d.thread_id, d.assistant_id, d.status, d.metadata,
  d.kwargs, d.multitask_strategy, d.error, d."values", d.stateless, d.created_at, d.started_at, d.ended_at, d.updated_at`;

export interface Claim {
  /** Milliseconds since the epoch. */
  now: number;
  /** The duration (ms) of the claim: longer than an attempt. */
  forMs: number;
  limit: number;
  /** Hosts at their limit. */
  notTo: readonly string[];
}

/**
 * The queue of webhooks. The statement that ends a run adds its webhook (`runs/statements.ts`), so that none is lost.
 * All processes of a deployment share it; a claim that expires passes to the next process.
 */
export class Deliveries {
  readonly #storage: Storage;

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  /** Claims due webhooks, and counts the attempt. */
  async claim({ now, forMs, limit, notTo }: Claim): Promise<Delivery[]> {
    const { rows } = await this.#storage.pool.query<Delivery>({
      name: 'claim-webhooks',
      text: `
        with due as (
          select delivery_id from webhook_deliveries
          where next_attempt_at <= $1 and host <> all($3::text[])
          order by next_attempt_at limit $4 for update skip locked
        )
        update webhook_deliveries d set attempts = attempts + 1, next_attempt_at = $2
        from due where d.delivery_id = due.delivery_id
        returning ${storedDelivery}`,
      values: [new Date(now), new Date(now + forMs), notTo, limit],
    });
    return rows;
  }

  /** Deletes a webhook that was delivered or given up. */
  async forget({ delivery_id }: Pick<Delivery, 'delivery_id'>): Promise<void> {
    await this.#storage.db.deleteFrom('webhook_deliveries').where('delivery_id', '=', delivery_id).execute();
  }

  /** Reschedules a webhook for `at` (ms since the epoch), unless another process has claimed it. */
  async putOff({ delivery_id, attempts }: Pick<Delivery, 'delivery_id' | 'attempts'>, at: number): Promise<void> {
    const query = this.#storage.db.updateTable('webhook_deliveries').set({ next_attempt_at: new Date(at) });
    await query.where('delivery_id', '=', delivery_id).where('attempts', '=', attempts).execute();
  }

  /** Releases an aborted attempt without counting it. */
  async giveBack({ delivery_id, attempts }: Pick<Delivery, 'delivery_id' | 'attempts'>, now: number): Promise<void> {
    const untried = { next_attempt_at: new Date(now), attempts: sql<number>`attempts - 1` };
    const query = this.#storage.db.updateTable('webhook_deliveries').set(untried);
    await query.where('delivery_id', '=', delivery_id).where('attempts', '=', attempts).execute();
  }

  /**
   * Reschedules to `at` what is due after `latest` (ms since the epoch): no wait is that long, so the clock was set
   * back.
   */
  async promote(latest: number, at: number): Promise<void> {
    const query = this.#storage.db.updateTable('webhook_deliveries').set({ next_attempt_at: new Date(at) });
    await query.where('next_attempt_at', '>', new Date(latest)).execute();
  }

  /** When the first one after `now` is due, both in milliseconds since the epoch; undefined where there is none. */
  async nextAfter(now: number): Promise<number | undefined> {
    const query = this.#storage.db.selectFrom('webhook_deliveries').select('next_attempt_at');
    const later = query.where('next_attempt_at', '>', new Date(now)).orderBy('next_attempt_at').limit(1);
    return (await later.executeTakeFirst())?.next_attempt_at.getTime();
  }

  /** Deletes all webhooks; returns their number. */
  async forgetAll(): Promise<number> {
    const { numDeletedRows } = await this.#storage.db.deleteFrom('webhook_deliveries').executeTakeFirstOrThrow();
    return Number(numDeletedRows);
  }
}
