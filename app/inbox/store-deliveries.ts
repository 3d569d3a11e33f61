import type { Pool, PoolClient } from 'pg';
import type { Clock } from '../../src/kit/clock.ts';
import type { OpenTransaction, Queue } from '../../src/kit/postgres/queue.ts';
import { type Delivery, jobOf } from './delivery.ts';
import { codeOf } from '../../src/kit/errors.ts';
import { isDatabaseUnavailable } from '../../src/kit/postgres/unavailable.ts';

export interface StoreDeliveriesOptions {
  /** Connections of its own, so that a webhook never waits for work; two are used at a time. */
  pool: Pool;
  queue: Pick<Queue, 'sendMany'>;
  clock: Clock;
  /** How long a group may take (ms); 4000 when absent, for GitHub waits 10 s. */
  timeoutMs?: number;
}

/** Stored now, or known before: either way it is safe. */
export type StoreDelivery = (delivery: Delivery) => Promise<'stored' | 'known'>;

const groups = { items: 200, size: 16 * 1024 * 1024, sizeOf: ({ payload }: Delivery) => payload.length, atOnce: 2 };

/**
 * Stores deliveries, each with its job; those that arrive together share one transaction. Resolves only after the
 * commit.
 *
 * Rejects with `StorageError` if the database is down, full or too slow: the sender has to retry.
 */
export function storeDeliveries({ pool, queue, clock, timeoutMs = 4_000 }: StoreDeliveriesOptions): StoreDelivery {
  const write = (deliveries: readonly Delivery[]): Promise<('stored' | 'known')[]> =>
    writeGroup(deliveries, { pool, queue, clock, timeoutMs });
  const storeAlone = async (delivery: Delivery): Promise<'stored' | 'known'> => (await write([delivery]))[0] ?? 'known';
  const storeInGroup = inGroups(write, groups);
  return async (delivery) => {
    try {
      return await storeInGroup(delivery);
    } catch (error) {
      // An invalid delivery must not fail the others of its group.
      return error instanceof StorageError ? Promise.reject(error) : storeAlone(delivery);
    }
  };
}

async function writeGroup(
  deliveries: readonly Delivery[],
  { pool, queue, clock, timeoutMs }: Required<StoreDeliveriesOptions>,
): Promise<('stored' | 'known')[]> {
  const enough = new AbortController();
  const writing = transaction(pool, enough.signal, async (client) => {
    const stored = new Set(await insertRows(client, onceEach(deliveries)));
    const jobs = onceEach(deliveries).filter(({ id }) => stored.has(id));
    for (const [name, each] of Map.groupBy(jobs.map(jobOf), (job) => job.name)) {
      await queue.sendMany(
        name,
        each.map(({ data, group }) => ({ id: data.id, data, ...(group === undefined ? {} : { group }) })),
        { db: transactionOf(client) },
      );
    }
    return stored;
  });
  const timeouts = clock.sleep(timeoutMs, enough.signal).then(
    () => Promise.reject(new StorageError('the database does not answer')),
    // It was over in time.
    () => new Set<string>(),
  );
  try {
    const stored = await Promise.race([writing, timeouts]);
    // If a delivery is in the group twice, the first one is the new one.
    return deliveries.map(({ id }) => (stored.delete(id) ? 'stored' : 'known'));
  } catch (error) {
    writing.catch(() => undefined);
    throw toStorageError(error);
  } finally {
    enough.abort();
  }
}

/** In the order of their keys: two writers of the same deliveries never deadlock. */
function onceEach(deliveries: readonly Delivery[]): Delivery[] {
  const byId = new Map(deliveries.toReversed().map((delivery) => [delivery.id, delivery]));
  return [...byId.values()].sort((one, other) => (one.id < other.id ? -1 : 1));
}

const columns = ['id', 'event', 'action', 'installation_id', 'repository_id', 'payload', 'received_at'] as const;

async function insertRows(client: PoolClient, deliveries: readonly Delivery[]): Promise<string[]> {
  const rows = deliveries.map((_, row) => `(${columns.map((__, at) => `$${row * columns.length + at + 1}`).join()})`);
  const values = deliveries.flatMap((delivery) => [
    delivery.id,
    delivery.event,
    delivery.action,
    delivery.installationId,
    delivery.repositoryId,
    delivery.payload,
    new Date(delivery.receivedAt),
  ]);
  const text = `insert into app.deliveries (${columns.join()}) values ${rows.join()} on conflict do nothing returning id`;
  return (await client.query<{ id: string }>(text, values)).rows.map(({ id }) => id);
}

/** The queue's statements on this connection, so that jobs and rows are there together or not at all. */
const transactionOf = (client: PoolClient): OpenTransaction => ({
  executeSql: (text, values) => client.query(text, values),
});

/** A connection that fails, or is still busy when the signal aborts, is closed: its state is unknown. */
async function transaction<T>(pool: Pool, signal: AbortSignal, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let isReleased = false;
  const release = (broken: boolean): void => {
    if (!isReleased) client.release(broken);
    isReleased = true;
  };
  const giveUp = (): void => release(true);
  if (signal.aborted) {
    release(false);
    throw new StorageError('the database gave a connection too late');
  }
  signal.addEventListener('abort', giveUp, { once: true });
  try {
    await client.query('begin');
    const result = await work(client);
    await client.query('commit');
    signal.removeEventListener('abort', giveUp);
    release(false);
    return result;
  } catch (error) {
    signal.removeEventListener('abort', giveUp);
    release(true);
    throw error;
  }
}

/** Storing failed, or its result is unknown. The same delivery may be sent again. */
export class StorageError extends Error {
  constructor(why: string, cause?: unknown) {
    super(why, { cause });
    this.name = 'StorageError';
  }
}

/** SQLSTATEs of a server that has run out of something: disk, memory. */
const fullStates: Readonly<Record<string, string>> = {
  '53100': 'the disk of the database is full',
  '53200': 'the database has run out of memory',
  '58030': 'the database cannot write to its disk',
};

/** SQLSTATEs of two writers in each other's way. */
const passing = new Set(['40001', '40P01']);

/** Turns a transient database error into a `StorageError`; any other error is returned as it is. */
export function toStorageError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof StorageError) return error;
  const code = codeOf(error);
  const full = fullStates[code];
  if (full !== undefined) return new StorageError(full, error);
  if (passing.has(code) || code.startsWith('53')) return new StorageError('the database is busy', error);
  return isDatabaseUnavailable(error) ? new StorageError('the database is unavailable', error) : error;
}

/** The limits of a group. */
interface GroupLimits<Item> {
  /** Items of one group at most. */
  items: number;
  /** Size of one group at most; a single item may be larger. */
  size: number;
  sizeOf: (item: Item) => number;
  /** Groups under way at the same time. */
  atOnce: number;
}

interface Waiting<Item, Result> {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

/**
 * Writes concurrent items in groups. An item that arrives while no write is in progress is written at once; items that
 * arrive meanwhile form the next group, so a group waits only for the previous one.
 *
 * @param write writes a group and returns a result for each item, in order; if it fails, each item fails.
 */
export function inGroups<Item, Result>(
  write: (items: readonly Item[]) => Promise<readonly Result[]>,
  limits: GroupLimits<Item>,
): (item: Item) => Promise<Result> {
  const waiting: Waiting<Item, Result>[] = [];
  let underWay = 0;

  function begin(): void {
    while (underWay < limits.atOnce && waiting.length > 0) {
      underWay += 1;
      void writeGroup(waiting.splice(0, nextGroup(waiting, limits)));
    }
  }

  async function writeGroup(group: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await write(group.map(({ item }) => item));
      group.forEach(({ resolve, reject }, index) => {
        const result = results[index];
        if (result === undefined) reject(new Error('A group was written without a result for each of its items.'));
        else resolve(result);
      });
    } catch (error) {
      for (const { reject } of group) reject(error);
    } finally {
      underWay -= 1;
      begin();
    }
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      begin();
    });
}

function nextGroup<Item>(waiting: readonly { item: Item }[], { items, size, sizeOf }: GroupLimits<Item>): number {
  let total = 0;
  for (const [index, { item }] of waiting.entries()) {
    total += sizeOf(item);
    if (index > 0 && (index >= items || total > size)) return index;
  }
  return Math.min(waiting.length, items);
}
