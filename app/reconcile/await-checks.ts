import {
  decideAfterChecks,
  shownName,
  type ChecksDecision,
  type RequiredCheck,
} from '../../src/deploy/rules/after-checks.ts';
import type { AfterChecks } from '../../src/deploy/file/push-fields.ts';
import { isExpired } from './deadlines.ts';
import type { Intent, UnsentIntent } from './intent.ts';
import { isRequestForCommit } from './next-step.ts';
import type { ReconcileContext } from './reconcile-context.ts';
import { checkName, isOwnCheck } from './report.ts';

/** How often the checks of a commit are looked at without an event (ms): one that is lost delays a deploy by this. */
const lookMs = 120_000;

/** The checks that a deploy request waits for; undefined where it waits for none. Redeploys and rollbacks do not wait. */
export function checksBefore({ cause, terms, sending }: Intent): AfterChecks | undefined {
  // They had passed when the environment before got the commit.
  if (sending.kind === 'promote') return undefined;
  const isAutomatic = cause.kind === 'push' || cause.kind === 'recovery';
  // A service that builds pushes by itself waits for nobody.
  if (isAutomatic && terms.builder === 'service') return undefined;
  return isAutomatic || cause.kind === 'rerun' ? terms.rules.deployAfter : undefined;
}

/** Whether a change of a check of its commit is news for an intent; without its name, of any check. */
export function mayAwait(intent: Intent, check: string | undefined): boolean {
  if (!isRequestForCommit(intent) || checksBefore(intent) === undefined) return false;
  const { state, decision } = intent;
  if (check === undefined || state !== 'waiting' || decision?.kind !== 'await' || decision.code !== 'checks')
    return true;
  const { names, count } = decision.pending;
  return count > names.length || names.includes(shownName(check));
}

/** Reads the checks of the commit, and decides whether it may be deployed now. */
export async function decideChecks({ context }: ReconcileContext, intent: UnsentIntent): Promise<ChecksDecision> {
  const after = checksBefore(intent);
  if (after === undefined) return { kind: 'pass' };
  const { id, repository, branch, commit, createdAt, terms } = intent;
  const { githubApi, clock } = context;
  // Whether it is late is known before the checks are read, so that those of the last moment count.
  const isLate = isExpired(clock, id, createdAt + after.timeoutMs, after.timeoutMs);
  const required =
    after.checks === 'required'
      ? (await githubApi.requiredChecks(repository, branch)).filter(({ name }) => !isOwnCheck(name))
      : namedChecks(after.checks, terms.deploymentName);
  if (required.length === 0) return decideAfterChecks({ required, seen: [], isLate });
  const checks = await githubApi.checksOf(repository, commit);
  return decideAfterChecks({ ...checks, required, isLate });
}

/** Its own check passes after the deploy, so that it would wait for itself. */
const namedChecks = (names: readonly string[], deploymentName: string): RequiredCheck[] =>
  names.filter((name) => name !== checkName(deploymentName)).map((name) => ({ name }));

/** When the checks of a commit that waits for them are looked at again (ms since the epoch), without an event. */
export function nextLookAtChecks(intent: UnsentIntent, now: number): number {
  const { timeoutMs = 0 } = checksBefore(intent) ?? {};
  return Math.min(now + lookMs, intent.createdAt + timeoutMs);
}
