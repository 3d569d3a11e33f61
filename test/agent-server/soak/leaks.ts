import type { Pool } from 'pg';
import { fieldsOf } from './caller.ts';

/** What a process holds when it has nothing to do, its garbage aside. */
export interface Held {
  /** Bytes of the heap and beside it. */
  memory: number;
  /** Bytes that the machine gave it. */
  rss: number;
  sockets: number;
  descriptors: number;
}

/** Requests from each process what it holds. */
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

/** Orphaned rows, by what they belong to; each query counts them. */
const LEFTOVERS: Record<string, string> = {
  'unfinished runs': `select from runs where status in ('pending', 'running')`,
  'webhooks in the queue': `select from webhook_deliveries`,
  'threads that count unfinished runs': `select from threads where unfinished <> 0 or status = 'busy'`,
  'runs of nobody': `select from runs where not exists (select from threads where threads.thread_id = runs.thread_id)`,
  'checkpoints of nobody': `select from checkpoints c where not exists (select from threads t where t.thread_id::text = c.thread_id)`,
  'writes of nobody': `select from checkpoint_writes c where not exists (select from threads t where t.thread_id::text = c.thread_id)`,
  'blobs of nobody': `select from checkpoint_blobs c where not exists (select from threads t where t.thread_id::text = c.thread_id)`,
  'notes of what runs found': `select from checkpoint_writes_before`,
  'crons of nobody': `select from crons where thread_id is not null and not exists (select from threads t where t.thread_id = crons.thread_id)`,
  'versions of nobody': `select from assistant_versions v where not exists (select from assistants a where a.assistant_id = v.assistant_id)`,
  'connections in the middle of a transaction': `select from pg_stat_activity where datname = current_database()
    and application_name like 'landfall-agent %' and state like 'idle in transaction%'`,
};

/** What is left over, by its name. */
export async function leftovers(database: Pool): Promise<Record<string, number>> {
  const counted: [string, number][] = [];
  for (const [name, query] of Object.entries(LEFTOVERS)) {
    const { rowCount } = await database.query(query);
    if (rowCount) counted.push([name, rowCount]);
  }
  return Object.fromEntries(counted);
}

/** How many connections the processes have. */
export async function connections(database: Pool): Promise<number> {
  const { rowCount } = await database.query(
    `select from pg_stat_activity where datname = current_database() and application_name like 'landfall-agent %'`,
  );
  return rowCount ?? 0;
}
