import { loggerTo } from '../../logger.ts';
import { randomUUID } from 'node:crypto';
import {
  openDeliveries,
  appSchema,
  inboxMigrations,
  inboxMigrationTable,
  type InboxTables,
} from '../../../app/inbox/deliveries.ts';
import type { Delivery } from '../../../app/inbox/delivery.ts';
import { storeDeliveries } from '../../../app/inbox/store-deliveries.ts';
import { systemClock } from '../../../src/kit/clock.ts';
import { openDatabase } from '../../../src/kit/postgres/database.ts';
import { migrate } from '../../../src/kit/postgres/migrate.ts';
import { openQueue } from '../../../src/kit/postgres/queue.ts';

/** A delivery as intake makes it. */
export const delivery = (more: Partial<Delivery> = {}): Delivery => ({
  id: randomUUID(),
  event: 'push',
  action: undefined,
  installationId: 5,
  repositoryId: 7,
  payload: '{"ref":"refs/heads/main"}',
  receivedAt: Date.now(),
  ...more,
});

/** An inbox on a database of its own. */
export async function openInbox(url: string, { timeoutMs }: { timeoutMs?: number } = {}) {
  const logged: string[] = [];
  const log = loggerTo((message: string): void => void logged.push(message));
  const database = openDatabase<InboxTables>({ url, log });
  const intake = openDatabase<InboxTables>({ url, max: 3, log });
  await migrate(database.db, inboxMigrations, { schema: appSchema, table: inboxMigrationTable });
  const queue = await openQueue({ url, log });
  const store = storeDeliveries({
    pool: intake.pool,
    queue,
    clock: systemClock,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  });
  const count = async (text: string): Promise<number> => {
    const { rows } = await database.pool.query<{ count: string }>(text);
    return Number(rows[0]?.count);
  };
  return {
    database,
    intake,
    queue,
    store,
    logged,
    deliveries: openDeliveries(database.db, systemClock),
    rows: () => count('select count(*) from app.deliveries'),
    jobs: () => count("select count(*) from pgboss.job where name = 'delivery'"),
    async close() {
      await queue.stop({ timeoutMs: 1_000 });
      await intake.close();
      await database.close();
    },
  };
}
export type TestInbox = Awaited<ReturnType<typeof openInbox>>;
