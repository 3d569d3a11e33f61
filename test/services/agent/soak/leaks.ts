import type { Pool } from 'pg';
import { fieldsOf } from './caller.ts';

/** What an idle process holds after garbage collection. */
export interface Held {
  /** Bytes of the heap and of external memory. */
  memory: number;
  /** Resident bytes. */
  rss: number;
  sockets: number;
  descriptors: number;
}

/** Reads from each process what it holds. */
export const lookAt = (urls: readonly string[]): Promise<Held[]> =>
  Promise.all(
    urls.map(async (url) => {
      const response = await fetch(`${url}/runs/wait`, {
        method: 'POST',
        body: JSON.stringify({ assistant_id: 'look', input: {} }),
        headers: { connection: 'close' },
      });
      const held = fieldsOf(fieldsOf(await response.json())['held']);
      const number = (name: string) => Number(held[name]);
      return {
        memory: number('memory'),
        rss: number('rss'),
        sockets: number('sockets'),
        descriptors: number('descriptors'),
      };
    }),
  );

/** Queries for orphaned rows and other leftovers, by name. */
const LEFTOVERS: Record<string, string> = {
  'unfinished runs': `select from runs where status in ('pending', 'running')`,
  'webhooks in the queue': `select from webhook_deliveries`,
  'threads that count unfinished runs': `select from threads where unfinished <> 0 or status = 'busy'`,
  'runs without a thread': `select from runs where not exists (select from threads where threads.thread_id = runs.thread_id)`,
  'checkpoints without a thread': `select from checkpoints c where not exists (select from threads t where t.thread_id::text = c.thread_id)`,
  'writes without a thread': `select from checkpoint_writes c where not exists (select from threads t where t.thread_id::text = c.thread_id)`,
  'blobs without a thread': `select from checkpoint_blobs c where not exists (select from threads t where t.thread_id::text = c.thread_id)`,
  'notes of what runs found': `select from checkpoint_writes_before`,
  'crons without a thread': `select from crons where thread_id is not null and not exists (select from threads t where t.thread_id = crons.thread_id)`,
  'versions without an assistant': `select from assistant_versions v where not exists (select from assistants a where a.assistant_id = v.assistant_id)`,
  'connections in the middle of a transaction': `select from pg_stat_activity where datname = current_database()
    and application_name like 'landfall-agent %' and state like 'idle in transaction%'`,
};

/** The number of leftover rows, by name. */
export async function leftovers(database: Pool): Promise<Record<string, number>> {
  const counted: [string, number][] = [];
  for (const [name, query] of Object.entries(LEFTOVERS)) {
    const { rowCount } = await database.query(query);
    if (rowCount) counted.push([name, rowCount]);
  }
  return Object.fromEntries(counted);
}

/** The number of database connections of the processes. */
export async function connections(database: Pool): Promise<number> {
  const { rowCount } = await database.query(
    `select from pg_stat_activity where datname = current_database() and application_name like 'landfall-agent %'`,
  );
  return rowCount ?? 0;
}
