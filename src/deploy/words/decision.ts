import { say, type Sayings } from '../../kit/coded.ts';
import { shortCommit } from '../../contract/control/repo-ref.ts';
import { freezeEnd, frozenWords, shownTime } from './freeze.ts';
import type { CheckNames } from '../rules/after-checks.ts';
import { earlierObstacles } from './earlier-obstacles.ts';
import type { NoPushCode } from '../rules/trigger.ts';
import type { AwaitDecision, AwaitFacts, BuildFacts, Decision, SkipFacts } from '../rules/trigger-types.ts';

/** Why a decision was made: one clause without a full stop. */
export function decisionWords(decision: Decision): string {
  if ('why' in decision) return decision.why;
  switch (decision.kind) {
    case 'trigger':
      return say(builds, decision);
    case 'adopt': {
      const commit = shortCommit(decision.commit);
      return decision.code === 'live'
        ? `commit ${commit} is live already with revision ${decision.revisionId}`
        : `revision ${decision.revisionId} of commit ${commit} is on its way already`;
    }
    case 'wait':
      return decision.code === 'unreported'
        ? `revision ${decision.revisionId} is on its way and does not report its commit yet`
        : `revision ${decision.revisionId} of commit ${shortCommit(decision.commit)} is on its way`;
    case 'await':
      return say(awaits, decision);
    case 'hold': {
      const what = decision.commit ? `commit ${shortCommit(decision.commit)} was rolled back` : 'a person rolled back';
      const stops = 'stops' in decision ? decision.stops : undefined;
      return `${what}, and ${stops ?? 'pushes'} wait until a person presses Redeploy`;
    }
    case 'skip':
      return say(skips, decision);
  }
}

const awaits: Sayings<AwaitFacts> = {
  checks: ({ pending }) => `${checksHave(pending)} not passed yet`,
  frozen: frozenWords,
  earlier: ({ name }) => `${name}, which comes before this one, is changing`,
  reviewers: ({ environment, ...reviewers }) =>
    `the environment ${environment} takes the approval of ${reviewerList(reviewers)}`,
  'wait-timer': ({ environment, until }) => `the wait timer of the environment ${environment} ends ${shownTime(until)}`,
};

const waits: Sayings<AwaitFacts> = {
  checks: ({ pending }) => `for ${checkList(pending)}`,
  frozen: freezeEnd,
  earlier: ({ name }) => `for ${name}, which is changing`,
  reviewers: (reviewers) => `for the approval of ${reviewerList(reviewers)}`,
  'wait-timer': ({ environment, until }) => `until ${shownTime(until)}, by the wait timer of ${environment}`,
};

/** What goes on from "waits": `for the check build`, `until 2026-12-27 00:00 UTC: Holidays`. */
export const waitWords = (decision: AwaitDecision): string => say(waits, decision);

const waitEnds: Sayings<AwaitFacts> = {
  checks: ({ pending }) => `once ${checksHave(pending)} passed`,
  frozen: (facts) => `when its environment is open again: ${frozenWords(facts)}`,
  earlier: ({ name }) => `if ${name}, which is changing, serves it again`,
  reviewers: ({ environment, ...reviewers }) =>
    `to the environment ${environment} once ${reviewerList(reviewers)} approves it`,
  'wait-timer': ({ environment, until }) =>
    `after the wait timer of the environment ${environment}: ${shownTime(until)}`,
};

/** What goes on from "is deployed": `once the check build has passed`. */
export const waitEndWords = (decision: AwaitDecision): string => say(waitEnds, decision);

const builds: Sayings<BuildFacts> = {
  promotion: ({ commit, from }) => `${from} serves commit ${shortCommit(commit)}, and has proven it`,
  rerun: ({ commit }) => `a person requested a Re-run, so commit ${shortCommit(commit)} is built again`,
  redeploy: ({ commit }) => `a person requested Redeploy, so commit ${shortCommit(commit)} is built again`,
  rollback: () => 'a person requested it',
  failure: () => 'the live revision fails its smoke tests',
  'waited-too-long': ({ revisionId }) =>
    `revision ${revisionId} has been on its way for too long, so the App no longer waits for it`,
  'not-live': ({ live, commit, ...how }) =>
    live
      ? `commit ${shortCommit(live)} is live, and ${shortCommit(commit)} is not${found(how)}`
      : `commit ${shortCommit(commit)} is not live, and nothing else is${found(how)}`,
  'live-unreported': ({ commit, ...how }) =>
    `the live revision does not report its commit, so ${shortCommit(commit)} is built to be sure${found(how)}`,
  'ended-before': ({ commit, revisionId, ...how }) =>
    `revision ${revisionId} of commit ${shortCommit(commit)} ended without going live${found(how)}`,
};

function found({ missed, unread }: { missed?: true; unread?: string }): string {
  const paths = unread === undefined ? '' : `; the changed paths are unknown (${unread}), so all count`;
  return `${missed ? ', and its push was missed' : ''}${paths}`;
}

const skips: Sayings<SkipFacts> = {
  'skip-word': ({ word }) => `the commit message says ${word}`,
  'paths-untouched': ({ paths }) => {
    if (paths === 0) return 'no file changed since the deployed commit';
    return paths === 1
      ? 'the deploy file does not count the one path that changed'
      : `the deploy file counts none of the ${paths} paths that changed`;
  },
  'rolled-back-before': ({ commit }) =>
    `commit ${shortCommit(commit)} was rolled back, and is built again only when a person requests it`,
  'checks-failed': ({ failed }) =>
    `${checksHave(failed)} failed; once ${theyPass(failed)}, press Re-run, or Redeploy to deploy it all the same`,
  'checks-late': ({ pending, isUnread }) => {
    const unread = isUnread ? '; the App may not read commit statuses until an owner accepts its new permissions' : '';
    return `${checksHave(pending)} not passed in time${unread}; once ${theyPass(pending)}, press Re-run`;
  },
  'no-checks': () =>
    'deploy-after waits for checks of others, and none is named or required; name some under deploy-after in the deploy file, or require some of the branch at GitHub',
  'gate-unread': () =>
    'the deploy file has a mistake or is too large, so that it is unknown whether its environment is frozen or held; correct it on the default branch, and press Re-run',
  'branch-not-allowed': ({ environment, branch }) =>
    `the branch ${branch} may not be deployed to the environment ${environment}; change the branches of the environment at GitHub, and press Re-run`,
  'protection-unknown': ({ environment, rules }) =>
    `the environment ${environment} has protection rules that the App can't decide (${rules.join(', ')}); remove them there and press Re-run, or deploy with the Action in a workflow, for which GitHub decides`,
  'already-reported': ({ end }) =>
    `the same commit was requested before and ended ${end}; press Re-run to build it again`,
  'serves-already': ({ revisionId }) => `revision ${revisionId} serves already`,
  'pushed-since': ({ commit, head }) =>
    `a person requested commit ${shortCommit(commit)}, and ${shortCommit(head)} was pushed since`,
  'branch-gone': ({ branch }) => `the branch ${branch} is gone`,
  cancelled: ({ by }) => `${by} cancelled it before anything was sent`,
  'not-installed': () => 'the App was removed from the repository',
  'other-serves': ({ active, broken }) =>
    active ? `revision ${active} serves by now, not ${broken}` : 'nothing serves any more',
  'earlier-missing': (facts) => say(earlierObstacles, facts)[0],
  'earlier-not-live': (facts) => say(earlierObstacles, facts)[0],
  'earlier-other-commit': (facts) => say(earlierObstacles, facts)[0],
  'earlier-unproven': (facts) => say(earlierObstacles, facts)[0],
  'environment-holds': () => 'the deploy file holds its environment: a person deploys to it',
  'earlier-moved': ({ name, serves }) => `${name}, which comes before this one, serves revision ${serves} by now`,
  'newer-promoted': ({ commit }) => `commit ${shortCommit(commit)}, which was proven later, has been promoted since`,
  'promoted-not-head': ({ commit, head }) =>
    `the service builds the head of the branch, which is ${head === undefined ? 'gone' : shortCommit(head)}, and not ${shortCommit(commit)}`,
  'other-on-its-way': ({ revisionId }) => `revision ${revisionId} is on its way and takes over`,
};

/** `the checks build, test`: names are texts of others. */
function checkList({ names, count }: CheckNames): string {
  const more = count - names.length;
  return `the ${count === 1 ? 'check' : 'checks'} ${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** `octocat or acme/ops`: names are texts of others. */
function reviewerList({ names, count }: CheckNames): string {
  const more = count - names.length;
  if (count === 0) return 'a reviewer';
  return `${names.join(' or ')}${more > 0 ? ` or ${more} more` : ''}`;
}

const theyPass = ({ count }: CheckNames): string => (count === 1 ? 'it passes' : 'they pass');
const checksHave = (checks: CheckNames): string => `${checkList(checks)} ${checks.count === 1 ? 'has' : 'have'}`;

/** Why a push is not built: one clause without a full stop. */
export const noPushWords: Record<NoPushCode, string> = {
  tag: 'it pushes a tag, and tags are not built on push',
  'not-a-branch': 'it does not push a branch',
  deleted: 'it deletes the branch, so there is nothing to build',
  fork: 'the repository is a fork, and branches of forks are not built',
};
