import { sameCommit } from '../../contract/control/repo-ref.ts';
import type { ChangedPaths, PushRules, RevisionSummary, DeploymentState, TriggerDecision } from './trigger-types.ts';
import type { GlobMatcher } from '../file/glob-matcher.ts';
import { compileGlob } from '../file/glob.ts';

/** The cause of a deploy request, in the values of an intent's cause. */
export type TriggerCause = 'push' | 'rerun' | 'redeploy' | 'rollback' | 'recovery' | 'failure' | 'promotion';

/** Everything that a decision is made from. */
export interface TriggerInput {
  cause: TriggerCause;
  /** The newest commit of the branch; for `rollback` and `failure` the commit that is gone back to. */
  head: { sha: string; message: string };
  state: DeploymentState;
  /** Absent if it was not looked up: then every path counts as changed. */
  changed: ChangedPaths | undefined;
  rules: PushRules;
  /** The deployment of the environment before, which has proven the commit. */
  promotedFrom?: string | undefined;
  /** Nothing arrives in the environment by itself. */
  holds?: boolean | undefined;
}

/**
 * Decides what to do about the head of a branch on one deployment. It compares the head's commit with the live revision
 * and with the newest one if that is in progress.
 */
export function decideTrigger(input: TriggerInput): TriggerDecision {
  for (const rule of rulesFor[input.cause]) {
    const decision = rule(input);
    if (decision) return decision;
  }
  return build(input);
}

type Rule = (input: TriggerInput) => TriggerDecision | undefined;

const onItsWay = ({ state: { latest } }: TriggerInput): RevisionSummary | undefined =>
  latest?.phase === 'on-its-way' ? latest : undefined;

/** The live revision. A newest revision that is live counts, whichever field reports it. */
const liveOne = ({ state: { live, latest } }: TriggerInput): RevisionSummary | undefined =>
  latest?.phase === 'live' ? latest : live;

const adoptOnItsWay: Rule = (input) => {
  const newest = onItsWay(input);
  if (!newest || !sameCommit(newest.commit, input.head.sha)) return undefined;
  return { kind: 'adopt', revisionId: newest.id, code: 'on-its-way', commit: input.head.sha };
};

/** A live commit is about to be replaced where another revision is on its way: then it does not count. */
const adoptLive: Rule = (input) => {
  const live = liveOne(input);
  if (!live || onItsWay(input) || !sameCommit(live.commit, input.head.sha)) return undefined;
  return { kind: 'adopt', revisionId: live.id, code: 'live', commit: input.head.sha };
};

const skipWord: Rule = ({ head, rules }) => {
  const message = head.message.toLowerCase();
  const word = rules.skipWords.find((each) => each !== '' && message.includes(each.toLowerCase()));
  return word === undefined ? undefined : { kind: 'skip', code: 'skip-word', word };
};

const rolledBack: Rule = ({ head, state }) =>
  sameCommit(state.rolledBackCommit, head.sha)
    ? { kind: 'skip', code: 'rolled-back-before', commit: head.sha }
    : undefined;

const held: Rule = ({ state, promotedFrom }) =>
  state.held && {
    kind: 'hold',
    code: 'rolled-back',
    commit: state.held.commit,
    ...(promotedFrom === undefined ? {} : { stops: 'promotions' as const }),
  };

const environmentHolds: Rule = ({ holds }) => (holds ? { kind: 'skip', code: 'environment-holds' } : undefined);

const waitForAnother: Rule = (input) => {
  const newest = onItsWay(input);
  return newest && waitFor(newest);
};

/** The decision to wait for a revision that is on its way. */
export const waitFor = ({ id, commit }: RevisionSummary): Extract<TriggerDecision, { kind: 'wait' }> => ({
  kind: 'wait',
  revisionId: id,
  ...(commit ? { code: 'on-its-way', commit } : { code: 'unreported' }),
});

const pathsUntouched: Rule = ({ changed, rules }) => {
  const paths = untouchedPaths(rules.paths, changed);
  return paths === undefined ? undefined : { kind: 'skip', code: 'paths-untouched', paths };
};

/** Paths come last: they are compared with the live revision, so no other may be on its way. */
const forPushes: readonly Rule[] = [
  adoptOnItsWay,
  adoptLive,
  skipWord,
  rolledBack,
  environmentHolds,
  held,
  waitForAnother,
  pathsUntouched,
];

/**
 * The rules for each cause; the first match decides, and without a match the commit is built. A person who requests a
 * Re-run wants a build even if the commit is live or was skipped. A rollback names a revision, and another revision of
 * the same commit may have other secrets, so a rollback ignores commits.
 */
const rulesFor: Record<TriggerCause, readonly Rule[]> = {
  push: forPushes,
  recovery: forPushes,
  rerun: [adoptOnItsWay, environmentHolds, held, waitForAnother],
  redeploy: [adoptOnItsWay, waitForAnother],
  rollback: [waitForAnother],
  failure: [waitForAnother],
  // Words and paths of the commit were heeded where it was pushed to.
  promotion: [adoptOnItsWay, adoptLive, rolledBack, environmentHolds, held, waitForAnother],
};

function build(input: TriggerInput): TriggerDecision {
  const { cause, head, changed, rules, promotedFrom: from } = input;
  if (from !== undefined) return { kind: 'trigger', code: 'promotion', commit: head.sha, from };
  if (cause === 'rollback' || cause === 'failure') return { kind: 'trigger', code: cause };
  if (cause === 'rerun' || cause === 'redeploy') return { kind: 'trigger', code: cause, commit: head.sha };
  return {
    kind: 'trigger',
    commit: head.sha,
    ...whyNotLive(input),
    ...(cause === 'recovery' ? { missed: true as const } : {}),
    ...(rules.paths && changed?.kind === 'unavailable' ? { unread: changed.why } : {}),
  };
}

function whyNotLive(input: TriggerInput) {
  const { latest } = input.state;
  const live = liveOne(input);
  if (latest?.phase === 'ended' && sameCommit(latest.commit, input.head.sha)) {
    return { code: 'ended-before', revisionId: latest.id } as const;
  }
  if (!live) return { code: 'not-live' } as const;
  return live.commit ? ({ code: 'not-live', live: live.commit } as const) : ({ code: 'live-unreported' } as const);
}

/** Globs that say which paths of a repository belong to a deployment. Where `include` is empty, all do. */
type PathRules = NonNullable<PushRules['paths']>;

/** Longer paths (UTF-16 code units) are not matched. */
const maxPathLength = 400;

/** Steps that matching all paths of one push may take: they hold the event loop for less than 50 ms. */
const maxSteps = 1_000_000;

/**
 * Whether a change of this path is for the deployment: one of `include` matches it and none of `exclude` does. What
 * cannot be matched counts, as does every path after the steps are used up: a build too many is better than one too
 * few.
 */
export function countingPath(rules: PathRules): (path: string) => boolean {
  const included = matchers(rules.include, true);
  const excluded = matchers(rules.exclude, false);
  const budget = { left: maxSteps };
  const isMatched = (path: string) => (matches: GlobMatcher) => matches(path, budget);
  return (path) => {
    if (path.length > maxPathLength) return true;
    const counts = included.length === 0 || included.some(isMatched(path));
    return (counts && !excluded.some(isMatched(path))) || budget.left <= 0;
  };
}

/** `otherwise` is the result of a glob that does not compile: stored rules may be older than the check of the file. */
function matchers(globs: readonly string[], otherwise: boolean): GlobMatcher[] {
  return globs.map((glob) => {
    const compiled = compileGlob(glob);
    return compiled.ok ? compiled.matches : () => otherwise;
  });
}

/** How many paths a push changed, if none of them is of the deployment; undefined if one is, or if that is unknown. */
export function untouchedPaths(rules: PathRules | undefined, changed: ChangedPaths | undefined): number | undefined {
  if (!rules || changed?.kind !== 'known') return undefined;
  return changed.paths.some(countingPath(rules)) ? undefined : changed.paths.length;
}

/** What is read of GitHub's `push` payload; everything else in it is passed over. */
export interface PushPayload {
  /** `refs/heads/...` or `refs/tags/...` */
  ref: string;
  before: string;
  after: string;
  created?: boolean | undefined;
  deleted?: boolean | undefined;
  forced?: boolean | undefined;
  repository?: { fork?: boolean | undefined } | undefined;
}

/** A push to a branch as reported; the current head of the branch has to be read. */
interface Push {
  /** Plain name of the branch. */
  branch: string;
  after: string;
  /** Undefined where the branch was made by this push. */
  before: string | undefined;
  forced: boolean;
  created: boolean;
}

/** Why a push is not built. */
export type NoPushCode = 'tag' | 'not-a-branch' | 'deleted' | 'fork';

type PushRead = { kind: 'push'; push: Push } | { kind: 'none'; code: NoPushCode };

const branchPrefix = 'refs/heads/';

/** What stands in the place of a commit where there is none; as long as the repository's hashes are. */
const noCommit = /^0+$/;

/** Which pushes to build: those to a branch of a repository that is not a fork, unless they delete the branch. */
export function pushFrom(payload: PushPayload): PushRead {
  const { ref, before, after, created = false, deleted = false, forced = false, repository } = payload;
  if (ref.startsWith('refs/tags/')) return { kind: 'none', code: 'tag' };
  if (!ref.startsWith(branchPrefix) || ref === branchPrefix) return { kind: 'none', code: 'not-a-branch' };
  if (deleted || noCommit.test(after)) return { kind: 'none', code: 'deleted' };
  if (repository?.fork) return { kind: 'none', code: 'fork' };
  const made = created || noCommit.test(before);
  return {
    kind: 'push',
    push: { branch: ref.slice(branchPrefix.length), after, before: made ? undefined : before, forced, created: made },
  };
}
