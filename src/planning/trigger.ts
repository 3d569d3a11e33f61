import { sameCommit, shortCommit } from './commit.ts';
import { untouchedPaths } from './paths.ts';
import type { ChangedPaths, Decision, PushRules, RevisionSeen, Standing } from './trigger-types.ts';

/** Who or what asks for a commit; the same words as an intent's cause. */
export type TriggerCause = 'push' | 'rerun' | 'redeploy' | 'rollback' | 'recovery' | 'failure';

/** Everything that a decision is made from. */
export interface TriggerInput {
  cause: TriggerCause;
  /** The newest commit of the branch; for `rollback` and `failure` the commit that is gone back to. */
  head: { sha: string; message: string };
  standing: Standing;
  /** Absent where nobody asked: then every path counts as changed. */
  changed: ChangedPaths | undefined;
  rules: PushRules;
}

/**
 * What is done about the head of a branch on one deployment. What counts is the head's commit against the revision
 * that is live, or on its way as the newest; everything else is told in `why`.
 */
export function decideTrigger(input: TriggerInput): Decision {
  for (const rule of rulesFor[input.cause]) {
    const decision = rule(input);
    if (decision) return decision;
  }
  return { kind: 'trigger', why: whyBuilt(input) };
}

type Rule = (input: TriggerInput) => Decision | undefined;

const onItsWay = ({ standing: { latest } }: TriggerInput): RevisionSeen | undefined =>
  latest?.standing === 'on-its-way' ? latest : undefined;

/** What serves. A newest revision that is live is the live one, whichever of the two places it was told in. */
const liveOne = ({ standing: { live, latest } }: TriggerInput): RevisionSeen | undefined =>
  latest?.standing === 'live' ? latest : live;

const adoptOnItsWay: Rule = (input) => {
  const newest = onItsWay(input);
  if (!newest || !sameCommit(newest.commit, input.head.sha)) return undefined;
  const why = `revision ${newest.id} of commit ${shortCommit(input.head.sha)} is on its way already`;
  return { kind: 'adopt', revisionId: newest.id, why };
};

/** A live commit is about to be replaced where another revision is on its way: then it does not count. */
const adoptLive: Rule = (input) => {
  const live = liveOne(input);
  if (!live || onItsWay(input) || !sameCommit(live.commit, input.head.sha)) return undefined;
  const why = `commit ${shortCommit(input.head.sha)} is live already with revision ${live.id}`;
  return { kind: 'adopt', revisionId: live.id, why };
};

const skipWord: Rule = ({ head, rules }) => {
  const message = head.message.toLowerCase();
  const word = rules.skipWords.find((each) => each !== '' && message.includes(each.toLowerCase()));
  return word === undefined
    ? undefined
    : { kind: 'skip', code: 'skip-word', why: `the commit's message says ${word}, which keeps it from being deployed` };
};

const rolledBack: Rule = ({ head, standing }) => {
  if (!sameCommit(standing.rolledBackCommit, head.sha)) return undefined;
  const why = `commit ${shortCommit(head.sha)} was rolled back, and is built again only when a person asks for it`;
  return { kind: 'skip', code: 'rolled-back-before', why };
};

const held: Rule = ({ standing }) =>
  standing.held && { kind: 'hold', why: `${standing.held.why}, and pushes wait until a person presses Redeploy` };

const waitForAnother: Rule = (input) => {
  const newest = onItsWay(input);
  if (!newest) return undefined;
  const why = newest.commit
    ? `revision ${newest.id} of commit ${shortCommit(newest.commit)} is on its way`
    : `revision ${newest.id} is on its way and does not tell its commit yet`;
  return { kind: 'wait', revisionId: newest.id, why };
};

const pathsUntouched: Rule = ({ changed, rules }) => {
  const untouched = untouchedPaths(rules.paths, changed);
  return untouched === undefined ? undefined : { kind: 'skip', code: 'paths-untouched', why: untouched };
};

/** Paths come last: they are compared with what stands, so what stands must have come to rest. */
const forPushes: readonly Rule[] = [
  adoptOnItsWay,
  adoptLive,
  skipWord,
  rolledBack,
  held,
  waitForAnother,
  pathsUntouched,
];

/**
 * Which rules speak for which cause, first come first served; where none speaks the commit is built. A person who asks
 * again wants a build although the commit is live or was left out. A way back names a revision, and another revision
 * of the same commit may carry other secrets, so there a commit proves nothing.
 */
const rulesFor: Record<TriggerCause, readonly Rule[]> = {
  push: forPushes,
  recovery: forPushes,
  rerun: [adoptOnItsWay, held, waitForAnother],
  redeploy: [adoptOnItsWay, waitForAnother],
  rollback: [waitForAnother],
  failure: [waitForAnother],
};

function whyBuilt(input: TriggerInput): string {
  const commit = shortCommit(input.head.sha);
  switch (input.cause) {
    case 'push':
      return `${whyNotLive(input)}${allPathsCount(input)}`;
    case 'recovery':
      return `${whyNotLive(input)}, and its push was missed${allPathsCount(input)}`;
    case 'rerun':
      return `a Re-run was asked for, so commit ${commit} is built again`;
    case 'redeploy':
      return `a person pressed Redeploy, so commit ${commit} is built again`;
    case 'rollback':
      return `a person asked to go back to commit ${commit}`;
    case 'failure':
      return `the live revision answers wrongly, so commit ${commit} is brought back`;
  }
}

function whyNotLive(input: TriggerInput): string {
  const commit = shortCommit(input.head.sha);
  const { latest } = input.standing;
  const live = liveOne(input);
  if (latest?.standing === 'ended' && sameCommit(latest.commit, input.head.sha)) {
    return `revision ${latest.id} of commit ${commit} ended without going live`;
  }
  if (!live) return `commit ${commit} is not live, nothing is`;
  if (!live.commit) return `the live revision does not tell its commit, so ${commit} is built to be sure`;
  return `commit ${commit} is not live, ${shortCommit(live.commit)} is`;
}

const allPathsCount = ({ changed, rules }: TriggerInput): string =>
  rules.paths && changed?.kind === 'unavailable'
    ? `; which paths changed cannot be told (${changed.why}), so all of them count`
    : '';
