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

/** The columns of the queue, which the history has too. */
const withoutPayload = `delivery_id, url, host, attempts, next_attempt_at, run_id, thread_id, assistant_id, status,
  multitask_strategy, error, stateless, created_at, started_at, ended_at, updated_at`;
const queued = `${withoutPayload}, "values", kwargs, metadata`;

/** The bounds of the history: webhooks, and their age (ms). */
const maxHistory = 1_000;
const historyMs = 7 * 24 * 60 * 60_000;
/** The most JSON (bytes) of a webhook's values, kwargs and metadata in the history: those of larger ones are dropped. */
const maxPayloadBytes = 64 * 1024;
const isTooLarge = `coalesce(octet_length("values"::text), 0) + octet_length(kwargs::text) + octet_length(metadata::text) > ${maxPayloadBytes}`;
const keptPayload = `case when is_cut then null else "values" end, case when is_cut then '{}' else kwargs end, case when is_cut then '{}' else metadata end`;

export type SettledState = 'delivered' | 'failed';

/** How an attempt ended. */
export interface LastAttempt {
  /** Milliseconds since the epoch. */
  at: number;
  /** Of the response; undefined if there was none. */
  status: number | undefined;
  /** Undefined for a delivered webhook. */
  reason: string | undefined;
}

const lastValues = ({ at, status, reason }: LastAttempt): [Date, number | null, string | null] => [
  new Date(at),
  status ?? null,
  reason ?? null,
];

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
  /** Called for a webhook that is to be sent again. */
  onRetry: () => void = () => undefined;

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

  /** Moves an ended webhook to the history, which it prunes, unless another process has claimed it. */
  async settle(
    { delivery_id, attempts }: Pick<Delivery, 'delivery_id' | 'attempts'>,
    state: SettledState,
    last: LastAttempt,
  ): Promise<void> {
    await this.#storage.pool.query({
      name: 'settle-webhook',
      text: `
        with ended as (
          delete from webhook_deliveries where delivery_id = $1 and attempts = $7 returning ${queued}, ${isTooLarge} as is_cut
        ),
        pruned as (
          delete from webhook_history where settled_at < $6::timestamptz or settled_at <= (
            select settled_at from webhook_history order by settled_at desc offset ${maxHistory - 1} limit 1
          )
        )
        insert into webhook_history (${withoutPayload}, "values", kwargs, metadata, is_cut, attempted_at, last_status, last_reason, state, settled_at)
        select ${withoutPayload}, ${keptPayload}, is_cut, $3::timestamptz, $4::integer, $5::text, $2::text, $3::timestamptz from ended
        on conflict do nothing`,
      values: [delivery_id, state, ...lastValues(last), new Date(last.at - historyMs), attempts],
    });
  }

  /** Reschedules a webhook for `at` (ms since the epoch), unless another process has claimed it. */
  async putOff({ delivery_id, attempts }: Pick<Delivery, 'delivery_id' | 'attempts'>, at: number, last: LastAttempt) {
    const [attempted_at, last_status, last_reason] = lastValues(last);
    const query = this.#storage.db
      .updateTable('webhook_deliveries')
      .set({ next_attempt_at: new Date(at), attempted_at, last_status, last_reason });
    await query.where('delivery_id', '=', delivery_id).where('attempts', '=', attempts).execute();
  }

  /** Releases an aborted attempt without counting it. */
  async giveBack({ delivery_id, attempts }: Pick<Delivery, 'delivery_id' | 'attempts'>, now: number): Promise<void> {
    const untried = { next_attempt_at: new Date(now), attempts: sql<number>`attempts - 1` };
    const query = this.#storage.db.updateTable('webhook_deliveries').set(untried);
    await query.where('delivery_id', '=', delivery_id).where('attempts', '=', attempts).execute();
  }

  /** Reschedules to `at` what is due after `latest` (ms): no wait is that long, so the clock was set back. */
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

  /** Deletes all webhooks, and the history; returns how many were not delivered. */
  async deleteAll(): Promise<number> {
    await this.#storage.pool.query('delete from webhook_history');
    const { numDeletedRows } = await this.#storage.db.deleteFrom('webhook_deliveries').executeTakeFirstOrThrow();
    return Number(numDeletedRows);
  }

  /** Puts a webhook of the history into the queue again, with its attempts; false if it is not there as a whole. */
  async retry(runId: string, now: number): Promise<boolean> {
    const { rowCount } = await this.#storage.pool.query(
      `with ended as (delete from webhook_history where run_id = $1 and settled_at >= $3 and not is_cut returning *)
       insert into webhook_deliveries (${queued}, attempted_at, last_status, last_reason) overriding system value
       select ${queued.replace('next_attempt_at', '$2::timestamptz')}, attempted_at, last_status, last_reason from ended`,
      [runId, new Date(now), new Date(now - historyMs)],
    );
    if (rowCount === 0) return false;
    this.onRetry();
    return true;
  }

  /** Whether a webhook is in the queue. */
  async isPending(runId: string): Promise<boolean> {
    const query = this.#storage.db.selectFrom('webhook_deliveries').select('run_id').where('run_id', '=', runId);
    return (await query.executeTakeFirst()) !== undefined;
  }

  /** Whether a webhook is in the history without its payload, so that it can't be sent again. */
  async isCut(runId: string): Promise<boolean> {
    const text = 'select from webhook_history where run_id = $1 and is_cut';
    return (await this.#storage.pool.query(text, [runId])).rowCount !== 0;
  }

  /** Webhooks of the queue and the history, those of the runs that ended last first. */
  async list({ state, runId, limit, offset, now }: DeliveriesQuery): Promise<ListedDelivery[]> {
    const columns = `run_id, thread_id, stateless, url, attempts, attempted_at, last_status, last_reason, ended_at`;
    const { rows } = await this.#storage.pool.query<ListedDelivery>(
      `select * from (
         select ${columns}, 'pending' as state, next_attempt_at, null::timestamptz as settled_at, delivery_id from webhook_deliveries
         union all
         select ${columns}, state, null, settled_at, delivery_id from webhook_history where settled_at >= $5
       ) listed
       where ($1::text is null or state = $1) and ($2::uuid is null or run_id = $2)
       order by ended_at desc nulls last, delivery_id desc limit $3 offset $4`,
      [state, runId, limit, offset, new Date(now - historyMs)],
    );
    return rows;
  }
}

export interface DeliveriesQuery {
  state: 'pending' | SettledState | undefined;
  runId: string | undefined;
  limit: number;
  offset: number;
  /** Milliseconds since the epoch. */
  now: number;
}

export interface ListedDelivery {
  run_id: string;
  thread_id: string;
  stateless: boolean;
  url: string;
  state: 'pending' | SettledState;
  attempts: number;
  attempted_at: Date | null;
  last_status: number | null;
  last_reason: string | null;
  /** When the run ended. */
  ended_at: Date | null;
  next_attempt_at: Date | null;
  settled_at: Date | null;
}
