import type { CallOptions } from '../../src/contract/call-options.ts';
import type { Head } from '../github/github-api.ts';
import { checkOf, intentDeploymentReport } from '../reporting/intent-reports.ts';
import type { CheckContext } from '../reporting/title.ts';
import type { AppContext } from '../context.ts';
import { reportVerdict } from '../verify/report-verdict.ts';
import { consequencesOf } from './consequences.ts';
import { withoutAnswers } from './live-answers.ts';
import { withOutcome, type NewIntentOutcome } from './outcomes.ts';
import { exact } from './stored-intent.ts';
import type { Intent, IntentFields, IntentHeader } from './intent.ts';
import type { DesiredReport } from './report.ts';
import type { Changes, Lease } from './store.ts';

/** One pass over a deployment queue: what its steps share. */
export interface ReconcileContext {
  context: AppContext;
  lease: Lease;
  /** Ends when the process is to leave, or the lease is lost. */
  signal: AbortSignal;
  /** The head as it was read last in this pass, and when that began (ms since the epoch). */
  head?: { branch: string; at: number; head: Head | undefined };
  /** The measured revision, once it was seen to serve in this pass. */
  measured?: string;
}

/** Continue with the next step, or stay idle until a time. `of`: id of the idle intent, if it is not the step's own. */
export type StepResult = { kind: 'continue' } | { kind: 'requeue'; until: number; of?: string };

export const continued: StepResult = { kind: 'continue' };

/** Requeues after `ms`, with 10% jitter so that queues do not retry in lockstep. */
export function requeueAfter({ context }: ReconcileContext, ms: number, of?: string): StepResult {
  const until = context.clock.now() + Math.round(ms * (0.9 + context.random() * 0.2));
  return { kind: 'requeue', until, ...(of === undefined ? {} : { of }) };
}

/** How long one call of the service that reads may take with all its repetitions (ms). */
const readMs = 20_000;

/** For a call that reads. */
export const readOptions = ({ context, signal }: ReconcileContext): CallOptions => ({
  signal,
  deadline: context.clock.now() + readMs,
});

/** What is stored beside the intents that a step is about. */
interface AdditionalChanges {
  /** What waiting intents are shown to wait for. */
  busy?: CheckContext['waitingFor'];
  /** Intents that change without a report of their own, or with one in `reports`. */
  also?: readonly Intent[];
}

/** Stores intents, with everything that GitHub is to show of them, in one transaction. @throws LeaseLost */
export async function saveIntents(
  work: ReconcileContext,
  intents: readonly Intent[],
  { busy, also = [], reports = [], ...more }: Omit<Changes, 'intents'> & AdditionalChanges = {},
): Promise<StepResult> {
  const { context, lease } = work;
  const updatedAt = context.clock.now();
  const { undone, deploymentQueue } = await consequencesOf(context, intents);
  // The last chance to report: an intent that has ended is not looked at again.
  if (undone?.intent.state === 'undoing' && undone.intent.verdictDueAt !== undefined)
    await reportVerdict(work, undone.intent);
  const stamped: Intent[] = [];
  for (const intent of [...intents, ...(undone ? [withOutcome(undone.intent, undone.end, updatedAt)] : [])]) {
    const whole = intent.state === 'ended' ? await withoutAnswers(work, intent) : intent;
    stamped.push(exact({ ...whole, updatedAt }));
  }
  const reported = stamped.flatMap((intent) => reportsOf(work, intent, busy));
  await context.store.save(lease, {
    ...deploymentQueue,
    ...more,
    intents: [...stamped, ...also],
    reports: [...reported, ...reports],
  });
  stamped.forEach(({ id, state, end, commit }: IntentFields) => {
    const about = { deployment: lease.deploymentId, commit, reason: end?.reason };
    context.log.info(about, `intent ${id}: ${end?.kind ?? state}`);
  });
  return continued;
}

/** Stores that an intent ended now. @throws LeaseLost */
export const endIntent = (
  work: ReconcileContext,
  intent: Intent,
  end: NewIntentOutcome,
  more?: Parameters<typeof saveIntents>[2],
): Promise<StepResult> => saveIntents(work, [withOutcome(intent, end, work.context.clock.now())], more);

/**
 * An intent's reports to GitHub. Our own rollback is reported by what it rolls back. A joined intent leaves the check
 * to the other one, and closes the GitHub Deployment that it may have made.
 */
export function reportsOf(
  { context }: ReconcileContext,
  intent: Intent,
  waitingFor?: CheckContext['waitingFor'],
): DesiredReport[] {
  if (intent.cause.kind === 'failure') return [];
  const about = { waitingFor, now: context.clock.now(), service: context.serviceAddress };
  const deployment = hasStarted(intent) ? intentDeploymentReport(intent, about) : undefined;
  const check = intent.state === 'ended' && intent.end.kind === 'joined' ? [] : [checkOf(intent, about)];
  return [...check, ...(deployment ? [deployment] : [])];
}

/** A GitHub Deployment needs a revision, or a request that may have made one; a mere deploy request has none. */
const hasStarted = ({ revisionId, sentAt, end, sending }: IntentFields): boolean =>
  (revisionId !== undefined && sending.kind !== 'test') ||
  (sentAt !== undefined && (end?.kind === 'unknown' || end?.kind === 'refused'));

/** How long what was read of a head is believed (ms). */
const freshMs = 2_000;
/** How far the clocks of two copies may be apart (ms): a head must be read later than a push by more than this. */
const skewMs = 10_000;

/**
 * The newest commit of the branch, at most slightly stale, and read after `since` (ms since the epoch): an earlier read
 * may miss the push. @throws GitHubApiError, InstallationPaused
 */
export async function headOf(
  work: ReconcileContext,
  { repository, branch, createdAt }: IntentHeader,
  since = createdAt,
): Promise<Head | undefined> {
  const at = work.context.clock.now();
  const read = work.head;
  if (read?.branch === branch && read.at > since + skewMs && at - read.at < freshMs) return read.head;
  const head = await work.context.githubApi.head(repository, branch);
  work.head = { branch, at, head };
  return head;
}
