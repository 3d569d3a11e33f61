import { rollbackWords } from './rollback.ts';
import { isOtherCommit } from '../rules/commit.ts';
import type { HoldState } from '../rules/hold-state.ts';
import { rolloutOutOfTime } from '../rules/rollout.ts';
import type { Rollout } from '../rules/rollout-types.ts';
import { isReplaced } from '../rules/verdict-subject.ts';
import type { Outcome, Rollback } from '../machine/outcome-types.ts';
import type { DeployRun } from '../machine/deploy-run.ts';
import { failedRollbackTitles, outcomes, type Rerun, type RollbackResult } from './outcomes.ts';
import { adviceOnUnproven, describeOpenHold as openHold, firstTestOf } from './verdict-words.ts';
import { rolloutOf } from '../machine/state.ts';

// What a run says of the revision that it followed, tested or went back from.

/** The end in a word, a sentence, and what to do about it. */
export type EndingDescription = Pick<Outcome, 'kind' | 'reason' | 'advice'>;

/** A run where it ended: what it was about, its revision and what the tests found, and what else is known. */
export type EndedRun = Pick<DeployRun, 'request' | 'own' | 'result' | 'known'>;

/** Reports a revision that was followed, for every end. */
export function reportOfRollout(run: EndedRun): EndingDescription {
  const { request, own, known } = run;
  const rollout = rolloutOutOfTime(known.rollout ?? rolloutOf(own?.revisionId ?? ''));
  const { revisionId, builtCommit } = rollout;
  if (rollout.kind !== 'live') {
    const { timeoutMs } = request;
    const hold = holdOf({ own, known: { ...known, rollout } });
    return outcomes.notLive({ rollout, former: formerOf(run), timeoutMs, hold, rerun: rerunOf(run) }, 'run');
  }
  const requested = known.commit?.kind === 'known' ? known.commit.sha : undefined;
  const { verdict, verified } = run.result ?? {};
  return outcomes.live({
    revisionId,
    commit: builtCommit,
    requested,
    verdict,
    isPromoted: verified === 'before-traffic',
  });
}

const formerOf = ({ known: { formerLive } }: EndedRun): string | null => formerLive?.id ?? null;

/** How far the hold of its revision is; one that was requested and not seen yet will be. */
const holdOf = ({ own, known: { rollout } }: Pick<EndedRun, 'own' | 'known'>): HoldState | undefined =>
  rollout?.hold ?? (own?.holdSeconds === undefined ? undefined : { kind: 'pending' });

/** Says that a revision gets no traffic without a decision; empty where it is not held. */
export const describeOpenHold = (run: EndedRun): string => openHold(holdOf(run));

/** Reports a revision that was discarded before it got traffic; undefined where it was not. */
export function reportOfDiscard(run: EndedRun): EndingDescription | undefined {
  const { rollout } = run.known;
  if (rollout?.kind !== 'interrupted' || rollout.hold?.kind !== 'discarded') return undefined;
  const { revisionId, statusMessage } = rollout;
  const [verdict, { onUnproven }] = [run.result?.verdict, run.request];
  return outcomes.discarded({ revisionId, verdict, onUnproven, statusMessage, former: formerOf(run) }, 'run');
}

/** Reports a revision of another commit than the only one that may be deployed; undefined for every other. */
export function reportOfOtherCommit({ known: { commit, rollout } }: EndedRun): EndingDescription | undefined {
  const built = rollout?.builtCommit;
  if (!rollout || !built || commit?.kind !== 'known' || !isOtherCommit(commit, built)) return undefined;
  const isLive = rollout.kind === 'live';
  if (!isLive && rollout.hold?.kind !== 'discarded') return undefined;
  return {
    kind: isLive ? 'failed' : 'discarded',
    ...outcomes.otherCommit({
      revisionId: rollout.revisionId,
      built,
      commit: commit.sha,
      ref: 'the ref',
      now: isLive ? 'live' : 'discarded',
    }),
    advice: `${isLive ? 'Roll back, or run' : 'Run'} this again for the newer commit.`,
  };
}

/** A rollback that failed only because the former revision fails them too: it was carried out. */
export const isRollbackCarriedOut = (rollback: Rollback): boolean =>
  rollback.kind === 'done' || (rollback.kind === 'failed' && rollback.rollout?.kind === 'live');

/** What a rollback that is not done did all the same, if it was begun at all. */
const failedUndoing = (rollback: Rollback | undefined): 'no-help' | 'not-undone' =>
  rollback && isRollbackCarriedOut(rollback) ? 'no-help' : 'not-undone';

export const failedRollbackTitle = (rollback: Rollback | undefined): string =>
  failedRollbackTitles[failedUndoing(rollback)];

function undoOf(rollback: Rollback | undefined): RollbackResult | undefined {
  if (!rollback) return undefined;
  if (rollback.kind !== 'done') {
    const { why, advice } = rollbackWords(rollback);
    return { kind: failedUndoing(rollback), why: `${why}.`, advice };
  }
  return { kind: 'serves-again', revisionId: rollback.toRevisionId, isProven: rollback.verdict.kind === 'passed' };
}

/** What the smoke tests say against a revision that serves; undefined where they say nothing against it. */
export function reportOfVerdict({ request, own, result, known }: EndedRun): EndingDescription | undefined {
  const { rollback, deployment } = known;
  const { verdict, verified } = result ?? {};
  const revisionId = own?.revisionId;
  if (verdict?.kind === 'failed') return outcomes.wrong({ revisionId, verdict }, 'run', undoOf(rollback));
  if (request.mode === 'smoke' && verdict?.kind === 'none') {
    const advice = 'Write smoke-tests into the deploy file, or give smoke-tests.';
    return { kind: 'unproven', reason: 'No smoke tests ran: none are configured.', advice };
  }
  if (verdict?.kind !== 'unproven') return undefined;
  return revisionId !== undefined && isReplaced(verdict)
    ? outcomes.replaced({ revisionId, active: deployment?.active_revision_id }, 'run')
    : outcomes.unproven({ revisionId, verdict, isPromoted: verified === 'before-traffic' && !!revisionId }, 'run');
}

/** Reports a requested rollback. */
export function reportOfRollback({ known: { rollback } }: EndedRun): EndingDescription {
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
  const { why, advice } = rollback ? rollbackWords(rollback) : { why: 'it did not start', advice: 'Run this again.' };
  const reason = `${failedRollbackTitle(rollback)}: ${why}.`;
  if (rollback?.kind !== 'failed') return { kind: 'refused', reason, advice };
  return { kind: outcomeOf(rollback.rollout), reason, advice };
}

function outcomeOf(rollout: Rollout | undefined): EndingDescription['kind'] {
  if (rollout?.kind === 'live') return 'broken';
  return !rollout || rollout.kind === 'in-progress' ? 'failed' : rollout.kind;
}

/** A revision in progress is recognised by its commit: without a known commit, a new revision is made. */
export function rerunOf({ request, known: { commit } }: EndedRun): Rerun {
  if (!('desired' in request)) return 'follows';
  const { desired } = request;
  if ('rebuild' in desired && desired.rebuild === 'always') return 'rebuild-always';
  const isUnknown = desired.source === 'github' && desired.rebuild !== 'never' && commit?.kind === 'unknown';
  return isUnknown ? 'commit-unknown' : 'follows';
}
