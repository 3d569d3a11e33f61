import { sameCommit } from '../../src/planning/commit.ts';
import type { Decision } from '../../src/planning/trigger-types.ts';
import type { EndKind, Intent } from './intent.ts';
import type { Observation } from './observation.ts';

/** Ends that say what became of a revision, so that the same revision need not be followed once more. */
const ofRevision: readonly EndKind[] = ['deployed', 'unproven', 'broken', 'failed', 'interrupted'];
/** Outcomes without a revision; only a person's request starts another attempt. */
const ofNone: readonly EndKind[] = ['unknown', 'absent'];

/**
 * Why a push changes nothing: an earlier one of the same commit has an outcome, and the service did nothing since. This
 * happens when two deliveries find the same head. One clause, for a check.
 */
export function alreadyReported(
  intent: Intent,
  sameCommits: readonly Intent[],
  observation: Observation,
): string | undefined {
  if (intent.cause.kind !== 'push' && intent.cause.kind !== 'recovery') return undefined;
  const former = endedBefore(intent, sameCommits);
  if (!former?.end) return undefined;
  const newest = observation.deployment.latest_revision_id;
  const { kind } = former.end;
  const isReported =
    (ofRevision.includes(kind) && former.revisionId !== undefined && former.revisionId === newest) ||
    (ofNone.includes(kind) && former.formerLatestRevisionId === newest);
  // A revision with such an outcome that is live all the same is observed again.
  const serves = observation.live?.id === former.revisionId;
  if (!isReported || (serves && (kind === 'failed' || kind === 'interrupted'))) return undefined;
  return `the same commit was requested before and ended ${kind}; press Re-run to build it again`;
}

/** Whether the check of this commit already says why it is not built: it was rolled back there. */
export function isReportedByEarlier(intent: Intent, sameCommits: readonly Intent[], decision: Decision): boolean {
  if (decision.kind !== 'skip' || decision.code !== 'rolled-back-before') return false;
  const kind = endedBefore(intent, sameCommits)?.end?.kind;
  return kind === 'rolled-back' || kind === 'broken' || kind === 'skipped';
}

/** The newest earlier intent whose outcome the commit's check shows. */
export const endedBefore = (intent: Intent, sameCommits: readonly Intent[]): Intent | undefined =>
  sameCommits.findLast(
    (each) =>
      each.id !== intent.id &&
      each.end !== undefined &&
      each.end.kind !== 'joined' &&
      each.cause.kind !== 'failure' &&
      sameCommit(each.commit, intent.commit),
  );
