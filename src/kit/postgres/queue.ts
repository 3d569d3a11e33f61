import { type Db, fromKysely, type KyselyTransactionLike, PgBoss } from 'pg-boss';
import { type Clock, endsWithin, systemClock } from '../clock.ts';
import {
  retryWhileUnavailable,
  explainConnecting,
  isDatabaseUnavailable,
  TooManyConnectionsError,
  throttleMessages,
} from './unavailable.ts';
import { repairJobTimesPeriodically } from './queue-jobs.ts';
import type { Logger } from '../logger.ts';

export interface OpenQueueOptions {
  /** Address of the database with user and password: a secret. */
  url: string;
  /** The schema that holds the jobs; `pgboss` when absent. */
  schema?: string;
  log: Logger;
  /** No other process works on these jobs: one whose process was killed is released as soon as a worker is there. */
  alone?: boolean;
  clock?: Clock;
}

/**
 * How the jobs of a name are treated unless its policy says otherwise. Times in seconds. A job is repeated for as long
 * as it takes: what was acknowledged is not lost to an outage of some hours.
 */
const jobDefaults = {
  /** Attempts after the first one before a job counts as failed for good. */
  retryLimit: 1_000,
  /** Before the first repetition; it doubles each time. */
  retryDelay: 1,
  retryDelayMax: 60,
  /** A job that runs longer than this is given to another worker. */
  expireInSeconds: 60 * 60,
  /** A job whose process gives no sign for this long is given to another worker; at least 10. */
  heartbeatSeconds: 20,
  /** How long a finished job is remembered. */
  deleteAfterSeconds: 24 * 60 * 60,
};
type JobPolicy = Partial<typeof jobDefaults>;

/** A transaction that is open: of Kysely, or what runs a statement with its values in one. */
export type OpenTransaction = KyselyTransactionLike | Pick<Db, 'executeSql'>;

/** What may be said of one job when it is sent. */
export interface SendOptions {
  /** A uuid. A job whose id is known already is not sent again. */
  id?: string;
  /** Not before this date, or this many seconds from now. */
  startAfter?: Date | number;
  /** Jobs of one group take turns where the workers say so. */
  group?: string;
  /** A transaction of the same database: the job exists if and when that commits. */
  db?: OpenTransaction;
}

/** A job as a handler gets it. */
export interface Job<Data> {
  id: string;
  name: string;
  data: Data;
  /** 1 for the first attempt. */
  attempt: number;
  /** Aborts when the job is no longer ours: it took too long, or the queue stops. */
  signal: AbortSignal;
}

interface WorkOptions {
  /** Jobs at the same time in this process; 1 when absent. */
  concurrency?: number;
  /** How often to look for due jobs, in seconds; 2 when absent. New jobs are announced at once anyway. */
  pollSeconds?: number;
  /** Works on one job of each group at a time in this process; the other places are for other groups. */
  oneOfGroup?: boolean;
}

/** Jobs in Postgres. */
export interface Queue {
  /** Says how the jobs of a name are treated; needed only where the defaults do not fit, before the first send or work. */
  define(name: string, policy: JobPolicy): Promise<void>;
  /** Sends a job, and returns its id, or `undefined` when a job of this id is there already. */
  send(name: string, data: object, options?: SendOptions): Promise<string | undefined>;
  /** Sends several jobs in one statement; returns the ids of new ones. Of the same id the first counts. */
  sendMany(
    name: string,
    jobs: readonly { id?: string; data: object; startAfter?: Date | number; group?: string }[],
    options?: Pick<SendOptions, 'db'>,
  ): Promise<string[]>;
  /**
   * Works on the jobs of a name. A handler that returns ends its job; one that throws has it repeated later. A job
   * can come twice, for example after a crash: handlers must be able to bear that.
   */
  work<Data extends object>(
    name: string,
    options: WorkOptions,
    handler: (job: Job<Data>) => Promise<void>,
  ): Promise<void>;
  /** Takes no further jobs, waits for those under way (5000 ms unless set), and aborts the others. May be repeated. */
  stop(options?: { timeoutMs?: number }): Promise<void>;
}

/** Opens the job queue, and makes or updates its tables. It recovers from outages by itself, and logs them. */
export async function openQueue(options: OpenQueueOptions): Promise<Queue> {
  const { url, schema = 'pgboss', log, alone = false, clock = systemClock } = options;
  const report = throttleMessages((message) => log.warn(message), clock);
  const start = async (): Promise<PgBoss> => {
    const started = new PgBoss({
      connectionString: url,
      schema,
      // For the jobs' own statements, besides the connection that listens.
      max: 2,
      application_name: 'landfall-queue',
      useListenNotify: true,
      schedule: false,
      superviseIntervalSeconds: 10,
      monitorIntervalSeconds: 10,
    });
    started.on('error', (error) => report(`The job queue has a problem and goes on: ${withoutWorker(error.message)}`));
    started.on('warning', ({ message }) => report(`The job queue warns: ${message}`));
    await started.start().catch(async (error: unknown) => {
      await started.stop({ graceful: false });
      throw explainConnecting(error);
    });
    return started;
  };
  // That a server is full says what to change; it is not waited for.
  const isPassing = (error: unknown) => isDatabaseUnavailable(error) && !(error instanceof TooManyConnectionsError);
  const boss = await retryWhileUnavailable(start, { clock, isPassing });

  const stopping = new AbortController();
  const looking = repairJobTimesPeriodically(boss, schema, { clock, signal: stopping.signal, report });
  const known = new Map<string, Promise<void>>();
  const ensure = (name: string, policy?: JobPolicy): Promise<void> => {
    const before = known.get(name);
    if (before !== undefined && policy === undefined) return before;
    const made = makeQueue(boss, name, policy ?? {});
    known.set(name, made);
    made.catch(() => known.delete(name));
    return made;
  };
  const working = new Set<string>();
  let stopped: Promise<void> | undefined;

  return {
    define: (name, policy) => ensure(name, policy),
    send: async (name, data, { db, group, ...job } = {}) => {
      await ensure(name);
      return (await boss.send(name, data, { ...job, ...grouped(group), ...executor(db) })) ?? undefined;
    },
    sendMany: async (name, jobs, { db } = {}) => {
      await ensure(name);
      const once = withoutRepetition(jobs).map(({ group, ...job }) => ({ ...job, ...grouped(group) }));
      return once.length === 0 ? [] : ((await boss.insert(name, once, { returnId: true, ...executor(db) })) ?? []);
    },
    work: async (name, { concurrency = 1, pollSeconds = 2, oneOfGroup = false }, handler) => {
      await ensure(name);
      if (alone && !working.has(name)) await releaseActiveJobs(boss, schema, name);
      working.add(name);
      for (let worker = 0; worker < concurrency; worker += 1) {
        const id: string = await boss.work<Parameters<typeof handler>[0]['data']>(
          name,
          {
            pollingIntervalSeconds: pollSeconds,
            notifyPollingIntervalSeconds: pollSeconds,
            // pg-boss counts by the name of the jobs, so over all of these workers.
            ...(oneOfGroup ? { localGroupConcurrency: 1 } : {}),
          },
          async (jobs) => {
            try {
              for (const { data, signal, retryCount, ...job } of jobs) {
                await handler({ id: job.id, name, data, attempt: retryCount + 1, signal });
              }
            } catch (error) {
              const plain = plainError(error);
              const [job] = jobs;
              log.error(`The job ${name} ${job?.id} failed at attempt ${(job?.retryCount ?? 0) + 1}: ${plain.message}`);
              throw plain;
            } finally {
              // There may be more: look again at once, not at the next poll.
              boss.notifyWorker(id);
            }
          },
        );
      }
    },
    stop: ({ timeoutMs = 5_000 } = {}) => {
      stopping.abort();
      // A query on a silent database may take longer than there is time.
      const lookedLast = endsWithin(clock, timeoutMs, looking);
      return (stopped ??= lookedLast.then(() => stopBoss(boss, [...working], timeoutMs, clock)));
    },
  };
}

async function makeQueue(boss: PgBoss, name: string, policy: JobPolicy): Promise<void> {
  const options = { ...jobDefaults, ...policy, retryBackoff: true, notify: true };
  await boss.createQueue(name, options);
  // An existing queue keeps its previous options unless they are updated.
  await boss.updateQueue(name, options);
}

const executor = (db: OpenTransaction | undefined) => db && { db: 'executeSql' in db ? db : fromKysely(db) };

const grouped = (group: string | undefined) => group !== undefined && { group: { id: group } };

/** The first of the jobs of each id: pg-boss refuses a whole batch for one repetition. */
export function withoutRepetition<T extends { id?: string }>(jobs: readonly T[]): T[] {
  const seen = new Set<string>();
  return jobs.filter(({ id }) => id === undefined || (!seen.has(id) && seen.add(id)));
}

/** Releases jobs that are active although no process works on them. */
async function releaseActiveJobs(boss: PgBoss, schema: string, name: string): Promise<void> {
  const { rows } = await boss
    .getDb()
    .executeSql(`select id from "${schema}".job where name = $1 and state = 'active'`, [name]);
  const ids = rows.map(({ id }: { id: string }) => id);
  if (ids.length > 0) await boss.fail(name, ids, { message: 'the process that worked on it ended' });
}

/** Only what a person reads: pg-boss would store further fields, such as a request with its secrets. */
function plainError(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(String(error));
  const plain = new Error(error.message);
  plain.name = error.name;
  if (error.stack !== undefined) plain.stack = error.stack;
  return plain;
}

/** pg-boss names the worker in each message; without it a repetition is seen as one. */
const withoutWorker = (message: string): string => message.replace(/ \(Queue: [^()]*\)$/, '');

/** How long (ms) closing waits for queries under way: a silent database never ends them. */
const silentMs = 10_000;

async function stopBoss(boss: PgBoss, names: string[], timeoutMs: number, clock: Clock): Promise<void> {
  await endsWithin(clock, timeoutMs, Promise.all(names.map((name) => boss.offWork(name, { wait: true }))));
  await endsWithin(clock, silentMs, boss.stop({ graceful: false }));
}
