import { loggerTo } from '../test/logger.ts';
// How many webhooks a second are verified, stored and answered, 32 at once, on a real Postgres: our inbox, beside the
// least that node:http can do with nothing stored, and beside a queue that is given one job for each request.
import { PgBoss } from 'pg-boss';
import { appSchema, inboxMigrations, inboxMigrationTable, type InboxTables } from '../app/inbox/deliveries.ts';
import { storeDeliveries } from '../app/inbox/store-deliveries.ts';
import { systemClock } from '../src/kit/clock.ts';
import { openDatabase } from '../src/kit/postgres/database.ts';
import { migrate } from '../src/kit/postgres/migrate.ts';
import { openQueue } from '../src/kit/postgres/queue.ts';
import { startBare } from './bare-server.ts';
import { benchFolder, startBenchPostgres } from './bench-postgres.ts';
import { contend, startContender } from './contender-process.ts';
import type { Measured } from './figure.ts';
import { startOurs } from './our-intake.ts';
import { interleave, median, sized, spread, type Contender } from './rounds.ts';
import { startWebhookLoad } from './webhook-load.ts';

const atOnce = 32;
const log = loggerTo((message: string): void => console.error(message));

/** Answers a second; who stores takes fewer of them for a round of the same length. */
async function serving(port: number, requestsEach: number): Promise<Contender> {
  const load = await startWebhookLoad(port);
  return { round: async () => (requestsEach / (await load.send(requestsEach, atOnce))) * 1000 };
}

/** The App's own inbox, as `npm start` opens it. */
async function inbox(url = ''): Promise<number> {
  const intake = openDatabase<InboxTables>({ url, max: 3, log });
  await migrate(intake.db, inboxMigrations, { schema: appSchema, table: inboxMigrationTable });
  const queue = await openQueue({ url, log });
  return startOurs(storeDeliveries({ pool: intake.pool, queue, clock: systemClock }));
}

async function oneSend(url = ''): Promise<number> {
  const boss = new PgBoss({ connectionString: url, schedule: false, supervise: false });
  boss.on('error', ({ message }) => log.error(message));
  await boss.start();
  await boss.createQueue('delivery');
  return startBare(async ({ id, payload }) => {
    if ((await boss.send('delivery', payload, { id })) === null) throw new Error(`${id} was not stored`);
  });
}

const contenders = {
  ours: async (url?: string) => serving(await inbox(url), sized(2_000, 20)),
  floor: async () => serving(await startBare(), sized(8_000, 20)),
  peer: async (url?: string) => serving(await oneSend(url), sized(1_000, 20)),
};

/** Webhooks a second. */
export async function stored(): Promise<Measured[]> {
  await using folder = benchFolder();
  await using postgres = await startBenchPostgres(folder.path);
  const start = (name: keyof typeof contenders, ...given: string[]) =>
    startContender(import.meta.filename, name, ...given);
  await using ours = await start('ours', await postgres.database('ours'));
  await using floor = await start('floor');
  await using peer = await start('peer', await postgres.database('peer'));
  const measured = await interleave({ ours, floor, peer }, { rounds: 9, warmups: 2 });
  return [
    {
      figure: 'stored',
      unit: 'webhooks/s',
      ours: median(measured.ours),
      floor: median(measured.floor),
      peer: median(measured.peer),
      notes: {
        ours: `our inbox, ${atOnce} at once: the delivery and its job in one transaction, in groups`,
        floor: 'node:http, HMAC, JSON.parse, nothing stored',
        peer: 'the same server with one send of pg-boss for each request',
      },
      targets: [
        { of: 'floor', least: 0.15 },
        { of: 'peer', least: 1.5 },
      ],
      spread: spread(measured.ours),
    },
  ];
}

if (import.meta.main) await contend(contenders);
