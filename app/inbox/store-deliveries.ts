import type { Pool, PoolClient } from 'pg';
import type { Clock } from '../../src/kit/clock.ts';
import type { OpenTransaction, Queue } from '../../src/kit/postgres/queue.ts';
import { type Delivery, jobOf } from './delivery.ts';
import { codeOf } from '../../src/kit/errors.ts';
import { isDatabaseUnavailable } from '../../src/kit/postgres/unavailable.ts';

export interface StoreDeliveriesOptions {
  /** A pool only for webhooks, so that they never wait for other work; two connections are used at a time. */
  pool: Pool;
  queue: Pick<Queue, 'sendMany'>;
  clock: Clock;
  /** How long writing a group may take (ms); by default 4000, because GitHub waits 10 s. */
  timeoutMs?: number;
}

/** Stores a delivery. `known`: it was already stored. */
export type StoreDelivery = (delivery: Delivery) => Promise<'stored' | 'known'>;

const groupLimits = {
  items: 200,
  size: 16 * 1024 * 1024,
  sizeOf: ({ payload }: Delivery) => payload.length,
  concurrency: 2,
};

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
  const storeInGroup = inGroups(write, groupLimits);
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
  const finished = new AbortController();
  const writing = transaction(pool, finished.signal, async (client) => {
    const stored = new Set(await insertRows(client, uniqueById(deliveries)));
    const jobs = uniqueById(deliveries).filter(({ id }) => stored.has(id));
    for (const [name, each] of Map.groupBy(jobs.map(jobOf), (job) => job.name)) {
      await queue.sendMany(
        name,
        each.map(({ data, group }) => ({ id: data.id, data, ...(group === undefined ? {} : { group }) })),
        { db: transactionOf(client) },
      );
    }
    return stored;
  });
  const timeout = clock.sleep(timeoutMs, finished.signal).then(
    () => Promise.reject(new StorageError('the database does not answer')),
    // The write finished in time.
    () => new Set<string>(),
  );
  try {
    const stored = await Promise.race([writing, timeout]);
    // If a delivery is in the group twice, only the first one counts as stored.
    return deliveries.map(({ id }) => (stored.delete(id) ? 'stored' : 'known'));
  } catch (error) {
    writing.catch(() => undefined);
    throw toStorageError(error);
  } finally {
    finished.abort();
  }
}

/** Removes duplicates and sorts by key, so that two writers of the same deliveries never deadlock. */
function uniqueById(deliveries: readonly Delivery[]): Delivery[] {
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

/** Runs the queue's statements on this connection, so that jobs and rows are stored together or not at all. */
const transactionOf = (client: PoolClient): OpenTransaction => ({
  executeSql: (text, values) => client.query(text, values),
});

/** Runs a transaction. Closes a connection that fails or is busy when the signal aborts: its state is unknown. */
async function transaction<T>(pool: Pool, signal: AbortSignal, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let isReleased = false;
  const release = (broken: boolean): void => {
    if (!isReleased) client.release(broken);
    isReleased = true;
  };
  const abandon = (): void => release(true);
  if (signal.aborted) {
    release(false);
    throw new StorageError('the database gave a connection too late');
  }
  signal.addEventListener('abort', abandon, { once: true });
  try {
    await client.query('begin');
    const result = await work(client);
    await client.query('commit');
    signal.removeEventListener('abort', abandon);
    release(false);
    return result;
  } catch (error) {
    signal.removeEventListener('abort', abandon);
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

/** SQLSTATEs of a server that has run out of disk or memory, with messages. */
const messageByState: Readonly<Record<string, string>> = {
  '53100': 'the disk of the database is full',
  '53200': 'the database has run out of memory',
  '58030': 'the database cannot write to its disk',
};

/** SQLSTATEs of conflicting writers. */
const retryableStates = new Set(['40001', '40P01']);

/** Turns a transient database error into a `StorageError`; any other error is returned as it is. */
export function toStorageError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof StorageError) return error;
  const code = codeOf(error);
  const message = messageByState[code];
  if (message !== undefined) return new StorageError(message, error);
  if (retryableStates.has(code) || code.startsWith('53')) return new StorageError('the database is busy', error);
  return isDatabaseUnavailable(error) ? new StorageError('the database is unavailable', error) : error;
}

/** The limits of a group. */
interface GroupLimits<Item> {
  /** The maximum number of items in a group. */
  items: number;
  /** The maximum size of a group; a single item may be larger. */
  size: number;
  sizeOf: (item: Item) => number;
  /** How many groups are written at the same time. */
  concurrency: number;
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
  let writesInProgress = 0;

  function startWrites(): void {
    while (writesInProgress < limits.concurrency && waiting.length > 0) {
      writesInProgress += 1;
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
      writesInProgress -= 1;
      startWrites();
    }
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      startWrites();
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
