import { sameCommit, shortCommit } from './commit.ts';
import type { ChangedPaths, Decision, PushRules, RevisionSummary, DeploymentState, SkipCode } from './trigger-types.ts';
import type { GlobMatcher } from '../file/glob-matcher.ts';
import { compileGlob } from '../file/glob.ts';

/** The cause of a deploy request, in the values of an intent's cause. */
export type TriggerCause = 'push' | 'rerun' | 'redeploy' | 'rollback' | 'recovery' | 'failure';

/** Everything that a decision is made from. */
export interface TriggerInput {
  cause: TriggerCause;
  /** The newest commit of the branch; for `rollback` and `failure` the commit that is gone back to. */
  head: { sha: string; message: string };
  state: DeploymentState;
  /** Absent if it was not looked up: then every path counts as changed. */
  changed: ChangedPaths | undefined;
  rules: PushRules;
}

/**
 * Decides what to do about the head of a branch on one deployment. It compares the head's commit with the live revision
 * and with the newest one if that is in progress; `why` gives the reasons.
 */
export function decideTrigger(input: TriggerInput): Decision {
  for (const rule of rulesFor[input.cause]) {
    const decision = rule(input);
    if (decision) return decision;
  }
  return { kind: 'trigger', why: whyBuilt(input) };
}

type Rule = (input: TriggerInput) => Decision | undefined;

const onItsWay = ({ state: { latest } }: TriggerInput): RevisionSummary | undefined =>
  latest?.phase === 'on-its-way' ? latest : undefined;

/** The live revision. A newest revision that is live counts, whichever field reports it. */
const liveOne = ({ state: { live, latest } }: TriggerInput): RevisionSummary | undefined =>
  latest?.phase === 'live' ? latest : live;

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

const rolledBack: Rule = ({ head, state }) => {
  if (!sameCommit(state.rolledBackCommit, head.sha)) return undefined;
  const why = `commit ${shortCommit(head.sha)} was rolled back, and is built again only when a person requests it`;
  return { kind: 'skip', code: 'rolled-back-before', why };
};

const held: Rule = ({ state }) =>
  state.held && { kind: 'hold', why: `${state.held.why}, and pushes wait until a person presses Redeploy` };

const waitForAnother: Rule = (input) => {
  const newest = onItsWay(input);
  if (!newest) return undefined;
  const why = newest.commit
    ? `revision ${newest.id} of commit ${shortCommit(newest.commit)} is on its way`
    : `revision ${newest.id} is on its way and does not report its commit yet`;
  return { kind: 'wait', revisionId: newest.id, why };
};

const pathsUntouched: Rule = ({ changed, rules }) => {
  const untouched = untouchedPaths(rules.paths, changed);
  return untouched === undefined ? undefined : { kind: 'skip', code: 'paths-untouched', why: untouched };
};

/** Paths come last: they are compared with the live revision, so no other may be on its way. */
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
 * The rules for each cause; the first match decides, and without a match the commit is built. A person who requests a
 * Re-run wants a build even if the commit is live or was skipped. A rollback names a revision, and another revision of
 * the same commit may have other secrets, so a rollback ignores commits.
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
      return `a Re-run was requested, so commit ${commit} is built again`;
    case 'redeploy':
      return `a person requested Redeploy, so commit ${commit} is built again`;
    case 'rollback':
      return `a person requested a rollback to commit ${commit}`;
    case 'failure':
      return `the live revision fails its smoke tests, so commit ${commit} is brought back`;
  }
}

function whyNotLive(input: TriggerInput): string {
  const commit = shortCommit(input.head.sha);
  const { latest } = input.state;
  const live = liveOne(input);
  if (latest?.phase === 'ended' && sameCommit(latest.commit, input.head.sha)) {
    return `revision ${latest.id} of commit ${commit} ended without going live`;
  }
  if (!live) return `commit ${commit} is not live, nothing is`;
  if (!live.commit) return `the live revision does not report its commit, so ${commit} is built to be sure`;
  return `commit ${commit} is not live, ${shortCommit(live.commit)} is`;
}

const allPathsCount = ({ changed, rules }: TriggerInput): string =>
  rules.paths && changed?.kind === 'unavailable'
    ? `; the changed paths are not known (${changed.why}), so all of them count`
    : '';

/** Globs that say which paths of a repository belong to a deployment. Where `include` is empty, all do. */
type PathRules = NonNullable<PushRules['paths']>;

/** Longer paths (UTF-16 code units) are not matched. */
const longestPath = 400;

/** Steps that matching all paths of one push may take: they hold the event loop for less than 50 ms. */
const mostSteps = 1_000_000;

/**
 * Whether a change of this path is for the deployment: one of `include` matches it and none of `exclude` does. What
 * cannot be matched counts, as does every path after the steps are used up: a build too many is better than one too
 * few.
 */
export function countingPath(rules: PathRules): (path: string) => boolean {
  const included = matchers(rules.include, true);
  const excluded = matchers(rules.exclude, false);
  const budget = { left: mostSteps };
  const isMatched = (path: string) => (matches: GlobMatcher) => matches(path, budget);
  return (path) => {
    if (path.length > longestPath) return true;
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

/**
 * Why a push changed no path of the deployment, as one clause without a full stop; undefined if it did change one, or
 * if that is unknown.
 */
export function untouchedPaths(rules: PathRules | undefined, changed: ChangedPaths | undefined): string | undefined {
  if (!rules || changed?.kind !== 'known') return undefined;
  if (changed.paths.some(countingPath(rules))) return undefined;
  const { length } = changed.paths;
  if (length === 0) return 'it changes no file since the deployed commit';
  const since = length === 1 ? 'the one path that changed' : `none of the ${length} paths that changed`;
  return `${since} ${length === 1 ? 'is not' : 'is'} among those that the deploy file counts`;
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

/** A push that may be built, or why it is none. `why` is one clause without a full stop, fit to show. */
type PushRead = { kind: 'push'; push: Push } | { kind: 'none'; code: SkipCode; why: string };

const branchPrefix = 'refs/heads/';

/** What stands in the place of a commit where there is none; as long as the repository's hashes are. */
const noCommit = /^0+$/;

/** Which pushes to build: those to a branch of a repository that is not a fork, unless they delete the branch. */
export function pushFrom(payload: PushPayload): PushRead {
  const { ref, before, after, created = false, deleted = false, forced = false, repository } = payload;
  if (ref.startsWith('refs/tags/')) return none('tag', 'it pushes a tag, and tags are not built on push');
  if (!ref.startsWith(branchPrefix) || ref === branchPrefix) return none('not-a-branch', 'it pushes no branch');
  if (deleted || noCommit.test(after)) return none('deleted', 'it deletes the branch, so there is nothing to build');
  if (repository?.fork) return none('fork', 'the repository is a fork, and branches of forks are not built');
  const made = created || noCommit.test(before);
  return {
    kind: 'push',
    push: { branch: ref.slice(branchPrefix.length), after, before: made ? undefined : before, forced, created: made },
  };
}

const none = (code: SkipCode, why: string): PushRead => ({ kind: 'none', code, why });
