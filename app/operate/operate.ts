import { createProgramLogger } from '../../src/kit/program-logger.ts';
import { join } from 'node:path';
import { asLine } from '../../src/deploy/words/sanitize.ts';
import { isUuid } from '../../src/kit/uuid.ts';
import { messageOf } from '../../src/kit/errors.ts';
import { systemClock } from '../../src/kit/clock.ts';
import { openDatabase } from '../../src/kit/postgres/database.ts';
import { openQueue } from '../../src/kit/postgres/queue.ts';
import { runJobAgain, failingJobs, type FailingJob } from '../../src/kit/postgres/queue-jobs.ts';
import { openDeliveries, type StoredDelivery, type InboxTables } from '../inbox/deliveries.ts';
import { jobOf } from '../inbox/delivery.ts';
import { type Variables, variablesHere } from '../settings/read-settings.ts';
import { environment } from '../settings/environment.ts';
import { isObject } from '../../src/kit/json-object.ts';
import { runningEmbedded } from '../../src/kit/postgres/embedded/launch.ts';

/** An operator's command to a running App. */
export type OperateCommand =
  | { kind: 'jobs'; limit: number }
  | { kind: 'deliveries'; limit: number; unhandled: boolean }
  /** `id` of a job; that of a delivery is its GUID. */
  | { kind: 'retry'; id: string };

/** The output: lines for people, and the same as a value. */
export interface OperateTerminal {
  print(line: string): void;
  complain(line: string): void;
  conclude(result: unknown): void;
  /** Masks this secret from now on. */
  hide(secret: string): void;
  /** The text with all secrets masked. */
  masked(text: string): string;
}

/** Runs an operator's command. Prints the problem and returns false on failure. */
export async function operate(
  command: OperateCommand,
  { folder, env }: { folder: string; env: Variables },
  terminal: OperateTerminal,
): Promise<boolean> {
  const reached = reachDatabase(variablesHere(folder, env));
  if (!reached.ok) {
    terminal.complain(reached.problem);
    return false;
  }
  terminal.hide(new URL(reached.url).password);
  const database = openDatabase<InboxTables>({ url: reached.url, max: 2, applicationName: 'landfall-operator' });
  const deliveries = openDeliveries(database.db, systemClock);
  try {
    switch (command.kind) {
      case 'jobs': {
        const jobs = await failingJobs(database.pool, command.limit);
        for (const line of jobs.flatMap(jobLines)) terminal.print(line);
        if (jobs.length === 0) terminal.print('No failing jobs.');
        else terminal.print('Run one again with: npx landfall app retry <id>');
        terminal.conclude({ jobs });
        return true;
      }
      case 'deliveries': {
        const list = await deliveries.list(command);
        for (const line of list.flatMap(deliveryLines)) terminal.print(line);
        if (list.length === 0) terminal.print('There are no deliveries.');
        terminal.conclude({ deliveries: list });
        return true;
      }
      case 'retry': {
        const { again, reported } = await retry(command.id);
        if (again) terminal.print(reported);
        else terminal.complain(reported);
        terminal.conclude({ again, reported });
        return again;
      }
    }
  } catch (error) {
    const hint = 'An App without DATABASE_URL has a database only while it runs: npm start.';
    terminal.complain(`The App's database is not reachable: ${messageOf(error)}. ${hint}`);
    return false;
  } finally {
    await database.close();
  }

  async function retry(id: string): Promise<{ again: boolean; reported: string }> {
    const refuse = (reported: string) => ({ again: false, reported });
    if (!isUuid(id)) return refuse(`${id} is no id of a job: they are listed by npx landfall app jobs.`);
    const job = await runJobAgain(database.pool, id);
    if (job) return { again: true, reported: `The ${job.name} job ${id} runs again.` };
    const delivery = await deliveries.get(id);
    if (delivery === undefined) return refuse(`No job and no delivery has the id ${id}.`);
    if (delivery.handledAt !== undefined) {
      return refuse(`The delivery ${id} was handled ${new Date(delivery.handledAt).toISOString()}.`);
    }
    // Its job is gone. If one is running nevertheless, the later of the two finds the delivery handled.
    const write = (line: string): void => terminal.complain(line);
    const mask = (text: string): string => terminal.masked(text);
    const log = createProgramLogger({ name: 'app', env, isTerminal: true, write, mask });
    const queue = await openQueue({ url: database.pool.options.connectionString ?? '', log });
    const { name, data, ...options } = jobOf(delivery);
    await queue.send(name, data, options);
    await queue.stop({ timeoutMs: 1_000 });
    return { again: true, reported: `The delivery ${id} is handled again.` };
  }
}

/** A failing job, as two lines of text. */
export const jobLines = ({ id, name, data, state, attempts, at, problem }: FailingJob): string[] => [
  `${id}  ${name}  ${state === 'failed' ? 'failed for good' : 'comes again'} ${at.toISOString()}  after ${times(attempts)}  ${JSON.stringify(data)}`,
  `    ${asLine(problem)}`,
];

/** A delivery, as a line or two. */
export function deliveryLines(delivery: StoredDelivery): string[] {
  const { id, event, action, repositoryId, receivedAt, lastError } = delivery;
  const eventName = [event, action].filter((part) => part !== undefined).join('.');
  const repositoryText = repositoryId === undefined ? '' : `  repository ${repositoryId}`;
  const first = `${id}  ${new Date(receivedAt).toISOString()}  ${eventName}${repositoryText}  ${describeState(delivery)}`;
  return lastError === undefined ? [first] : [first, `    ${asLine(lastError)}`];
}

function describeState({ handledAt, attempts, decision }: StoredDelivery): string {
  if (handledAt === undefined) return attempts === 0 ? 'waits' : `failed ${times(attempts)}`;
  const { kind, why } = isObject(decision) ? decision : {};
  if (typeof kind !== 'string') return 'handled';
  return typeof why === 'string' ? `${kind}: ${asLine(why)}` : kind;
}

const times = (count: number): string => (count === 1 ? 'one attempt' : `${count} attempts`);

/** The URL of this App's database, or why it is unknown. It is a secret. */
type ReachedDatabase = { ok: true; url: string } | { ok: false; problem: string };

const settings = environment.pick({ DATABASE_URL: true, LANDFALL_DATA: true });

/**
 * Finds the App's database: the one at `DATABASE_URL`, else the embedded one, which exists only while the App runs.
 * Starts nothing.
 */
export function reachDatabase(variables: Variables): ReachedDatabase {
  const nonEmpty = Object.fromEntries(Object.entries(variables).filter(([, value]) => value?.trim()));
  const read = settings.safeParse(nonEmpty);
  if (!read.success) {
    return { ok: false, problem: read.error.issues.map(({ path, message }) => `${path.join()} ${message}.`).join(' ') };
  }
  const { DATABASE_URL, LANDFALL_DATA } = read.data;
  return DATABASE_URL === undefined ? embeddedAt(join(LANDFALL_DATA, 'postgres')) : { ok: true, url: DATABASE_URL };
}

function embeddedAt(folder: string): ReachedDatabase {
  const advice = 'Run this where the App runs, with its settings, or set DATABASE_URL or LANDFALL_DATA.';
  try {
    const url = runningEmbedded(folder);
    return url === undefined
      ? { ok: false, problem: `There is no database of an App in ${folder}. ${advice}` }
      : { ok: true, url };
  } catch (error) {
    return { ok: false, problem: `The database in ${folder} can't be reached (${messageOf(error)}). ${advice}` };
  }
}
