import { withoutFullStop } from '../contract/plain-text.ts';
import { sameCommit, shortCommit } from '../planning/commit.ts';
import type { Rollout } from '../planning/rollout-types.ts';
import type { NamedVerdict, Unproven, Verdict } from '../planning/verdict-types.ts';
import type { Reported } from './ending.ts';
import type { Rollback } from './outcome-types.ts';
import type { DeployRequest, Known } from './deploy-run.ts';

/** Reports a revision that was followed, for every end. */
export function reportOfRollout(request: DeployRequest, known: Known): Reported {
  const { rollout } = known;
  const id = known.revisionId ?? '';
  switch (rollout?.kind) {
    case 'live':
      return { kind: 'deployed', reason: `Revision ${id} is live${ofWhichCommit(rollout, known)}.` };
    case 'failed':
      return {
        kind: 'failed',
        reason: `Revision ${id} ended ${rollout.status}${statusMessageOf(rollout)}. ${whatServes(request, known)}`,
        advice: 'Read the log lines of this revision, correct what they name, and deploy again.',
      };
    case 'superseded':
      return {
        kind: 'superseded',
        reason: `Revision ${id} did not become live: ${rollout.by ? `revision ${rollout.by} is newer and takes its place` : 'a newer one took its place'}.`,
        advice: 'Look at the run that made the newer revision; set on-superseded to pass where this is expected.',
      };
    case 'interrupted':
      return {
        kind: 'interrupted',
        reason: `Revision ${id} was interrupted at the service${statusMessageOf(rollout)}. ${whatServes(request, known)}`,
        advice: 'Run this again to build it again.',
      };
    default:
      return {
        kind: 'timed-out',
        reason: `Revision ${id} was not live within ${minutes(request.timeoutMs)}: last seen ${rollout?.seen.at(-1)?.status ?? 'nowhere'}, and it goes on.`,
        advice: `Raise timeout-minutes, or run this again: ${whatRunningAgainDoes(request, known)}`,
      };
  }
}

/** A rollback that failed only because the former revision answers wrongly too: it was carried out. */
export const servesAgain = (rollback: Rollback): boolean =>
  rollback.kind === 'done' || (rollback.kind === 'failed' && rollback.rollout?.kind === 'live');

/** What the smoke tests say against a revision that serves; undefined where they say nothing against it. */
export function reportOfVerdict(request: DeployRequest, known: Known): Reported | undefined {
  const { verdict, rollback } = known;
  const subject = known.revisionId ? `Revision ${known.revisionId}` : 'The live revision';
  const isLive = known.revisionId ? ' is live, but' : '';
  if (verdict?.kind === 'failed') {
    const how = `answered wrongly: ${firstOf(verdict, 'failed')}`;
    const wrong = `${subject}${isLive} ${how}`;
    if (rollback?.kind === 'done') {
      const proven = rollback.verdict.kind === 'passed' ? 'serves again and answers as it should' : 'serves again';
      return {
        kind: 'rolled-back',
        reason: `${subject} ${how}. Revision ${rollback.toRevisionId} ${proven}.`,
        advice: 'Correct the agent and deploy it again.',
      };
    }
    if (rollback) {
      const back = servesAgain(rollback) ? 'Rolled back, which did not help' : 'Not rolled back';
      const subjectThen = servesAgain(rollback) ? `${subject} ${how}` : wrong;
      return { kind: 'broken', reason: `${subjectThen}. ${back}: ${rollback.why}.`, advice: rollback.advice };
    }
    const advice = 'Correct the agent and deploy it again, or run with mode: rollback.';
    return { kind: 'broken', reason: `${wrong}.`, advice };
  }
  if (request.mode === 'smoke' && verdict?.kind === 'none') {
    return { kind: 'unproven', reason: 'No smoke tests ran: none are configured.', advice: 'Give smoke-tests.' };
  }
  if (verdict?.kind !== 'unproven') return undefined;
  return {
    kind: 'unproven',
    reason: `${subject}${isLive} is not proven to answer: ${firstOf(verdict, 'unproven')}.`,
    advice: adviceOnUnproven(verdict),
  };
}

const provesWhen: Record<Unproven, string> = {
  unreachable: 'Check that the agent can be reached with this key; for a cold start raise the attempts of the test.',
  denied:
    "The agent's own rules of access (`auth` in its graph configuration) refuse the caller, and smoke tests can't show a token of the agent's; where it has no rules, check the key.",
  disagreement: 'Look at what makes the answers differ, or expect of the test what holds of each of them.',
  unjudged: 'Expect less of the test: fewer values, simpler patterns and paths, or a shorter response.',
  'no-address': 'Give agent-url, the address at which the agent answers.',
  'nothing-live': 'Deploy it first, and look at the revisions of the deployment.',
};

function adviceOnUnproven({ tests }: Verdict): string {
  const because = new Set(tests.flatMap(({ verdict }) => (verdict.kind === 'unproven' ? [verdict.because] : [])));
  return [...because].map((each) => provesWhen[each]).join(' ');
}

const outcomeOf = {
  failed: 'failed',
  superseded: 'superseded',
  interrupted: 'interrupted',
  'timed-out': 'timed-out',
  'in-progress': 'failed',
  live: 'broken',
} as const satisfies Record<Rollout['kind'], Reported['kind']>;

/** Reports a requested rollback. */
export function reportOfRollback({ rollback }: Known): Reported {
  if (rollback?.kind === 'done') {
    const { toRevisionId, verdict } = rollback;
    if (verdict.kind !== 'unproven') {
      const proven = verdict.kind === 'passed' ? ' and answers as it should' : '';
      return { kind: 'rolled-back', reason: `Revision ${toRevisionId} serves again${proven}.` };
    }
    return {
      kind: 'unproven',
      reason: `Revision ${toRevisionId} serves again, but is not proven to answer: ${firstOf(verdict, 'unproven')}.`,
      advice: adviceOnUnproven(verdict),
    };
  }
  const { why, advice } = rollback ?? { why: 'it did not start', advice: 'Run this again.' };
  const reason = `${rollback && servesAgain(rollback) ? 'Rolled back, which did not help' : 'Not rolled back'}: ${why}.`;
  if (rollback?.kind !== 'failed') return { kind: 'refused', reason, advice };
  return { kind: rollback.rollout ? outcomeOf[rollback.rollout.kind] : 'failed', reason, advice };
}

/** After quick pushes the service builds the head of the branch, which may not be the requested commit. */
function ofWhichCommit({ builtCommit }: Rollout, { commit }: Known): string {
  if (!builtCommit) return '';
  if (commit?.kind !== 'known' || sameCommit(builtCommit, commit.sha)) return `, of commit ${shortCommit(builtCommit)}`;
  return `, of commit ${shortCommit(builtCommit)} and not of ${shortCommit(commit.sha)}, which was requested: the ref had moved on`;
}

function whatServes({ onFailure }: DeployRequest, { formerLive }: Known): string {
  if (!formerLive) return 'Nothing is live yet.';
  const nothing = onFailure === 'rollback' ? ', so there is nothing to roll back' : '';
  return `Revision ${formerLive.id} still serves${nothing}.`;
}

/** What the service says of the state of a revision, as the end of a clause. */
export const statusMessageOf = ({ statusMessage }: Rollout) =>
  statusMessage ? `: ${withoutFullStop(statusMessage)}` : '';

/** A revision in progress is recognised by its commit: without a known commit, a new revision is made. */
export function whatRunningAgainDoes({ desired }: DeployRequest, { commit }: Known): string {
  if ('rebuild' in desired && desired.rebuild === 'always') return 'rebuild is always, so it makes another revision.';
  return desired.source === 'github' && desired.rebuild !== 'never' && commit?.kind === 'unknown'
    ? 'the requested commit is not known, so it makes another revision; rebuild: never follows this one.'
    : 'the revision is followed, not made twice.';
}

/** The first test that ended so, in one clause. */
function firstOf({ tests }: Verdict, kind: 'failed' | 'unproven'): string {
  const found = tests.filter((each) => each.verdict.kind === kind);
  const [first] = found;
  const more = found.length > 1 ? ` (and ${found.length - 1} more)` : '';
  return first ? `${first.name}: ${clauseOf(first)}${more}` : '';
}

function clauseOf({ verdict }: NamedVerdict): string {
  if (verdict.kind === 'unproven') return withoutFullStop(verdict.why);
  const missed = verdict.held.find(({ held }) => !held);
  return missed ? `${missed.expected} was expected, ${missed.seen} was seen` : 'nothing was expected';
}

/** A time that was waited for, in words. */
export const minutes = (ms: number): string =>
  ms < 60_000 ? `${Math.round(ms / 1000)} s` : `${Math.round(ms / 6000) / 10} min`;
