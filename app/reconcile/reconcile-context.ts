import type { CallOptions } from '../../src/contract/call-options.ts';
import type { Head } from '../github/github-api.ts';
import { checkOf, deploymentOf } from '../reporting/intent-reports.ts';
import type { AppContext } from '../context.ts';
import { consequencesOf } from './consequences.ts';
import type { Intent } from './intent.ts';
import type { ReportPut } from './report.ts';
import type { Changes, Lease } from './store.ts';

/** One pass over a lane: what every step of it shares. */
export interface ReconcileContext {
  context: AppContext;
  lease: Lease;
  /** Ends when the process is to leave, or the lease is lost. */
  signal: AbortSignal;
  /** The head as it was read last in this pass, and when that began (ms since the epoch). */
  head?: { branch: string; at: number; head: Head | undefined };
}

/**
 * What came of a step: something moved, so the next one is looked for; or nothing is to be done before a time. `of` is
 * the id of the intent that rests, where it is another subject than the step's.
 */
export type StepResult = { kind: 'continue' } | { kind: 'requeue'; until: number; of?: string };

export const continued: StepResult = { kind: 'continue' };

/** Nothing is to be done for `ms`, give or take a tenth: those who began together go apart. */
export function requeueAfter({ context }: ReconcileContext, ms: number, of?: string): StepResult {
  const until = context.clock.now() + Math.round(ms * (0.9 + context.random() * 0.2));
  return { kind: 'requeue', until, ...(of === undefined ? {} : { of }) };
}

/** How long one call of the service that reads may take with all its repetitions (ms). */
const readMs = 20_000;

/** For a call that reads. */
export const reading = ({ context, signal }: ReconcileContext): CallOptions => ({
  signal,
  deadline: context.clock.now() + readMs,
});

/** What is stored beside the intents that a step is about. */
interface Beside {
  /** What those that wait are said to wait for. */
  busy?: Busy | undefined;
  /** Intents that change without a word on GitHub, or with one among `reports`. */
  also?: readonly Intent[];
}

/** What a lane's intents are said to wait for. */
export interface Busy {
  commit: string;
  revisionId?: string | undefined;
}

/**
 * Stores intents as they are from now on, with everything that GitHub is to show of them, in one transaction.
 *
 * @throws LeaseLost
 */
export async function keep(
  work: ReconcileContext,
  intents: readonly Intent[],
  { busy, also = [], reports = [], ...more }: Omit<Changes, 'intents'> & Beside = {},
): Promise<void> {
  const { context, lease } = work;
  const updatedAt = context.clock.now();
  const follows = await consequencesOf(context, intents);
  const stamped = [...intents, ...follows.intents].map((intent) => ({ ...intent, updatedAt }));
  const reported = stamped.flatMap((intent) => reportsOf(work, intent, busy));
  await context.store.save(lease, {
    ...follows.deploymentQueue,
    ...more,
    intents: [...stamped, ...also],
    reports: [...reported, ...reports],
  });
  for (const { id, state, end, commit } of stamped) {
    context.log(`intent ${id}: ${end?.kind ?? state}`, {
      deployment: lease.deploymentId,
      commit,
      reason: end?.reason,
    });
  }
}

/**
 * What GitHub shows of an intent: nothing of one that is told by another, as a rollback of our own is by what it rolls
 * back. One that joined another leaves the check to it, and ends the GitHub Deployment that it may have begun.
 */
export function reportsOf({ context }: Pick<ReconcileContext, 'context'>, intent: Intent, busy?: Busy): ReportPut[] {
  if (intent.cause.kind === 'failure') return [];
  const about = { waitingFor: busy, now: context.clock.now() };
  const deployment = hasStarted(intent) ? deploymentOf(intent, about) : undefined;
  const check = intent.end?.kind === 'joined' ? [] : [checkOf(intent, about)];
  return [...check, ...(deployment ? [deployment] : [])];
}

/** A GitHub Deployment is one of a revision, or of a request that left one open; one that is only wished for is none. */
const hasStarted = ({ revisionId, sentAt, end }: Intent): boolean =>
  revisionId !== undefined || (sentAt !== undefined && (end?.kind === 'unknown' || end?.kind === 'refused'));

/** How long what was read of a head is believed (ms). */
const freshMs = 2_000;
/** How far the clocks of two copies may be apart (ms) before a head counts as read after a push that it was read before. */
const skewMs = 10_000;

/**
 * The newest commit of the branch, read now or a moment ago, but not before `since` (ms since the epoch): what was
 * read before a push came knows nothing of it. @throws HubError, InstallationPaused
 */
export async function headOf(
  work: ReconcileContext,
  { repository, branch, createdAt }: Intent,
  since = createdAt,
): Promise<Head | undefined> {
  const at = work.context.clock.now();
  const read = work.head;
  if (read?.branch === branch && read.at > since + skewMs && at - read.at < freshMs) return read.head;
  const head = await work.context.githubApi.head(repository, branch);
  work.head = { branch, at, head };
  return head;
}
