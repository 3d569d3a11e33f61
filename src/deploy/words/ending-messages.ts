import { describeOpenHold as openHold, outcomeOfDiscard } from './hold-messages.ts';
import { isOtherCommit, sameCommit, shortCommit } from '../rules/commit.ts';
import {
  adviceIfIntended,
  firstTestOf,
  outcomeOfRollout,
  outcomeOfRollback,
  failedRollbackTitles,
  whatFailed,
} from './outcome-messages.ts';
import { rolloutOf, rolloutOutOfTime } from '../rules/rollout.ts';
import type { Rollout } from '../rules/rollout-types.ts';
import { adviceOnUnproven } from './unproven-advice.ts';
import { decisionOf, type HeldTerms } from '../rules/hold-state.ts';
import { replacementIn } from '../rules/verdict-subject.ts';
import type { EndingDescription } from './describe-ending.ts';
import type { Rollback } from '../machine/outcome-types.ts';
import type { DeployRunRequest, RunState } from '../machine/deploy-run.ts';

/** Reports a revision that was followed, for every end. */
export function reportOfRollout(request: DeployRunRequest, known: RunState): EndingDescription {
  const id = known.revisionId ?? '';
  const rollout = rolloutOutOfTime(known.rollout ?? rolloutOf(id));
  if (rollout.kind === 'live') {
    return { kind: 'deployed', reason: `Revision ${id} is live${describeBuiltCommit(rollout, known)}.` };
  }
  const by = rollout.kind === 'superseded' ? rollout.by : undefined;
  const successor = by ? `revision ${by} is newer and takes its place` : 'a newer one took its place';
  return outcomeOfRollout(rollout, {
    serves: describeServingRevision(request, known),
    waited: minutes(request.timeoutMs),
    lastSeen: `${rollout.seen.at(-1)?.status ?? 'nowhere'}${describeOpenHold(known)}`,
    superseded: `Revision ${id} did not become live: ${successor}.`,
    advice: {
      failed: 'Read the log lines of this revision, correct what they name, and deploy again.',
      superseded: adviceOnSuperseded,
      interrupted: 'Run this again to build it again.',
      'timed-out': `Raise timeout-minutes, or run this again: ${describeRerun(request, known)}`,
    },
  });
}

/** Says that a revision gets no traffic without a decision; empty where it is not held. */
export const describeOpenHold = ({ rollout, isHoldOurs }: RunState): string =>
  openHold(rollout?.hold ?? (isHoldOurs ? { kind: 'pending' } : undefined));

/** Whom a held revision of this run would take the traffic from. */
export const heldTermsOf = (
  { onUnproven }: Pick<DeployRunRequest, 'onUnproven'>,
  { formerLive }: Pick<RunState, 'formerLive'>,
): HeldTerms => ({ isReplacing: formerLive !== undefined, onUnproven });

/** Reports a revision that was discarded before it got traffic; undefined where it was not. */
export function reportOfDiscard(request: DeployRunRequest, known: RunState): EndingDescription | undefined {
  const { rollout, verdict, revisionId } = known;
  if (rollout?.kind !== 'interrupted' || rollout.hold?.kind !== 'discarded') return undefined;
  return outcomeOfDiscard({
    revisionId,
    verdict,
    decision: verdict && decisionOf(verdict, heldTermsOf(request, known)),
    statusMessage: rollout.statusMessage,
    serves: describeServingRevision({ ...request, onFailure: 'keep' }, known),
    self: 'this run',
    advice: {
      failed: 'Correct the agent and deploy it again.',
      unproven: 'Then run this again; `on-unproven: promote` would give it the traffic.',
      otherwise: 'Run this again; tests that take longer than the hold need verify: after-traffic.',
    },
  });
}

/** Reports a revision of another commit than the only one that may be deployed; undefined for every other. */
export function reportOfOtherCommit({ commit, rollout, revisionId }: RunState): EndingDescription | undefined {
  const built = rollout?.builtCommit;
  if (!rollout || !built || commit?.kind !== 'known' || !isOtherCommit(commit, built)) return undefined;
  const isLive = rollout.kind === 'live';
  if (!isLive && rollout.hold?.kind !== 'discarded') return undefined;
  const end = isLive ? 'is live' : 'was ended';
  return {
    kind: isLive ? 'failed' : 'discarded',
    reason: `Revision ${revisionId} ${end}, built from commit ${shortCommit(built)} and not from ${shortCommit(commit.sha)}, the only one that may be deployed: the ref had moved on.`,
    advice: isLive ? 'Roll back, or run this again for the newer commit.' : 'Run this again for the newer commit.',
  };
}

const adviceOnSuperseded =
  'Look at the run that made the newer revision; set on-superseded to pass where this is expected.';

/** A rollback that failed only because the former revision fails them too: it was carried out. */
export const isRollbackCarriedOut = (rollback: Rollback): boolean =>
  rollback.kind === 'done' || (rollback.kind === 'failed' && rollback.rollout?.kind === 'live');

/** What a rollback that is not done did all the same, if it was begun at all. */
const failedUndoing = (rollback: Rollback | undefined): 'no-help' | 'not-undone' =>
  rollback && isRollbackCarriedOut(rollback) ? 'no-help' : 'not-undone';

export const failedRollbackTitle = (rollback: Rollback | undefined): string =>
  failedRollbackTitles[failedUndoing(rollback)];

/** What the smoke tests say against a revision that serves; undefined where they say nothing against it. */
export function reportOfVerdict(request: DeployRunRequest, known: RunState): EndingDescription | undefined {
  const { verdict, rollback } = known;
  const subject = known.revisionId ? `Revision ${known.revisionId}` : 'The live revision';
  const isLive = known.revisionId ? ' is live, but' : '';
  const isServing = known.verified === 'before-traffic' ? ' was promoted, but' : isLive;
  if (verdict?.kind === 'failed') {
    const how = `${whatFailed(verdict)}: ${firstTestOf(verdict, 'failed')}`;
    const wrong = `${subject}${isLive} ${how}`;
    if (rollback?.kind === 'done') {
      const { toRevisionId: revisionId, verdict: again } = rollback;
      const undoing = { kind: 'serves-again', revisionId, isProven: again.kind === 'passed' } as const;
      const advice = `Correct the agent and deploy it again.${adviceIfIntended(verdict)}`;
      return { ...outcomeOfRollback(`${subject} ${how}`, undoing), advice };
    }
    if (rollback) {
      const undoing = { kind: failedUndoing(rollback), why: `${rollback.why}.` };
      const clause = undoing.kind === 'no-help' ? `${subject} ${how}` : wrong;
      return { ...outcomeOfRollback(clause, undoing), advice: rollback.advice };
    }
    const advice = `Correct the agent and deploy it again, or roll back (mode: rollback, or landfall rollback).${adviceIfIntended(verdict)}`;
    return { kind: 'broken', reason: `${wrong}.`, advice };
  }
  if (request.mode === 'smoke' && verdict?.kind === 'none') {
    const advice = 'Write smoke-tests into the deploy file, or give smoke-tests.';
    return { kind: 'unproven', reason: 'No smoke tests ran: none are configured.', advice };
  }
  if (verdict?.kind !== 'unproven') return undefined;
  const replaced = known.revisionId === undefined ? undefined : replacementIn(verdict);
  if (replaced !== undefined) {
    return { kind: 'superseded', reason: `${subject} was live, but ${replaced}.`, advice: adviceOnSuperseded };
  }
  return {
    kind: 'unproven',
    reason: `${subject}${isServing} is not proven to answer: ${firstTestOf(verdict, 'unproven')}.`,
    advice: adviceOnUnproven(verdict),
  };
}

/** Reports a requested rollback. */
export function reportOfRollback({ rollback }: RunState): EndingDescription {
  if (rollback?.kind === 'done') {
    const { toRevisionId, verdict } = rollback;
    if (verdict.kind !== 'unproven') {
      const proven = verdict.kind === 'passed' ? ' and answers as it should' : '';
      return { kind: 'rolled-back', reason: `Revision ${toRevisionId} serves again${proven}.` };
    }
    return {
      kind: 'unproven',
      reason: `Revision ${toRevisionId} serves again, but is not proven to answer: ${firstTestOf(verdict, 'unproven')}.`,
      advice: adviceOnUnproven(verdict),
    };
  }
  const { why, advice } = rollback ?? { why: 'it did not start', advice: 'Run this again.' };
  const reason = `${failedRollbackTitle(rollback)}: ${why}.`;
  if (rollback?.kind !== 'failed') return { kind: 'refused', reason, advice };
  return { kind: outcomeOf(rollback.rollout), reason, advice };
}

function outcomeOf(rollout: Rollout | undefined): EndingDescription['kind'] {
  if (rollout?.kind === 'live') return 'broken';
  return !rollout || rollout.kind === 'in-progress' ? 'failed' : rollout.kind;
}

/** After quick pushes the service builds the head of the branch, which may not be the requested commit. */
function describeBuiltCommit({ builtCommit }: Rollout, { commit }: RunState): string {
  if (!builtCommit) return '';
  if (commit?.kind !== 'known' || sameCommit(builtCommit, commit.sha)) return `, of commit ${shortCommit(builtCommit)}`;
  return `, of commit ${shortCommit(builtCommit)} and not of ${shortCommit(commit.sha)}, which was requested: the ref had moved on`;
}

function describeServingRevision({ onFailure }: DeployRunRequest, { formerLive }: RunState): string {
  if (!formerLive) return 'Nothing is live yet.';
  const nothing = onFailure === 'rollback' ? ', so there is nothing to roll back' : '';
  return `Revision ${formerLive.id} still serves${nothing}.`;
}

/** A revision in progress is recognised by its commit: without a known commit, a new revision is made. */
export function describeRerun({ desired }: DeployRunRequest, { commit }: RunState): string {
  if ('rebuild' in desired && desired.rebuild === 'always') return 'rebuild is always, so it makes another revision.';
  return desired.source === 'github' && desired.rebuild !== 'never' && commit?.kind === 'unknown'
    ? 'the requested commit is not known, so it makes another revision; rebuild: never follows this one.'
    : 'the revision is followed, not made twice.';
}

/** A time that was waited for, in words. */
export const minutes = (ms: number): string =>
  ms < 60_000 ? `${Math.round(ms / 1000)} s` : `${Math.round(ms / 6000) / 10} min`;
