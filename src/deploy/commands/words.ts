import { shortCommit } from '../../contract/control/repo-ref.ts';
import { capitalized, withoutFullStop } from '../../kit/plain-text.ts';
import { say, type Coded, type Sayings } from '../../kit/coded.ts';
import { frozenWords } from '../words/freeze.ts';
import type { EarlierObstacle } from '../rules/promotion.ts';
import { earlierWords } from '../words/earlier-obstacles.ts';
import { noneLiveBefore, nothingLive } from '../words/rollback.ts';
import { commandNames, commands, usageOf } from './definitions.ts';
import type { CommandRefusal, CommandRefusals, CommandResult, CommandResults, NoRollbackTarget } from './outcomes.ts';

const clauses: Sayings<NoRollbackTarget> = {
  'nothing-live': () => nothingLive,
  'other-live': ({ revisionId }) => `revision ${revisionId} is live, and it is not the one that this check reports`,
  'none-live-before': ({ revisionId }) => noneLiveBefore(revisionId),
  'unlisted-revisions': () => 'this service does not list revisions, so the previously live one is unknown',
};

/** Why there is nothing to go back to: a clause without a full stop. */
export const noRollbackWords = (why: Coded<NoRollbackTarget>): string => say(clauses, why);

/** Why nothing was done, a clause without a full stop, and what to do, a sentence. Plain text, with others' in it. */
export interface RefusalWords {
  why: string;
  advice: string;
}

const list = (names: readonly string[]): string => names.slice(0, 10).join(', ') + (names.length > 10 ? ', …' : '');

const meant = (word: string | undefined): string => (word === undefined ? '' : `; did you mean ${word}?`);

function earlier(obstacle: EarlierObstacle): RefusalWords {
  const [why, advice] = earlierWords(obstacle);
  return { why, advice };
}

const refusals: Sayings<CommandRefusals, RefusalWords> = {
  'unknown-command': ({ written, meant: name }) => ({
    why: `${written} is not a command${meant(`/${name}`)}`,
    advice: 'Commands are written exactly. /help lists them.',
  }),
  'unknown-argument': ({ command, written }) => ({
    why: `/${command} does not take ${written}`,
    advice: `Write it as ${usageOf(command)}.`,
  }),
  'hidden-characters': () => ({
    why: 'the command holds characters that are not seen, or that only look like letters of a command',
    advice: 'Type the command by hand.',
  }),
  'too-long': ({ most }) => ({
    why: `the line of the command has more than ${most} characters`,
    advice: 'Put everything else on the lines below it.',
  }),
  'no-write': ({ login, permission }) => ({
    why: `${login} has ${permission === 'none' ? 'no' : `only ${permission}`} access to this repository, and it takes write`,
    advice: 'Ask a person with write access to give the command.',
  }),
  'not-admin': ({ login, deployment }) => ({
    why: `${deployment} is production, and ${login} is not one of the admins that the deploy file names for it`,
    advice: 'Ask one of them, or add the login to admins in the deploy file of the default branch.',
  }),
  locked: () => ({ why: 'the conversation is locked', advice: 'Unlock it, and give the command again.' }),
  'not-open': () => ({ why: 'the pull request is not open', advice: 'Reopen it, and give the command again.' }),
  'closed-unmerged': () => ({
    why: 'the pull request was closed without being merged',
    advice: 'Give the command on an open or a merged pull request.',
  }),
  late: ({ minutes }) => ({
    why: `the comment is ${minutes} minutes old, and what it is about may have changed`,
    advice: 'Look at /status, and give the command again.',
  }),
  'no-deployment': ({ branches }) => ({
    why: `no deployment is built from ${branches.join(' or ')}`,
    advice: 'Create one with the Action or with `npx landfall deploy`, with build-on-push: true.',
  }),
  'unknown-deployment': ({ written, meant: name, names }) => ({
    why: `${written} is not a deployment of the branches of this pull request${meant(name)}`,
    advice: names.length > 0 ? `Name one of these: ${list(names)}.` : 'There is none.',
  }),
  'several-deployments': ({ names }) => ({
    why: 'the branches of this pull request have several deployments',
    advice: `Name one of these: ${list(names)}.`,
  }),
  'deployment-refused': ({ deployment, why }) => ({
    why: `${deployment} can't be acted upon: ${why}`,
    advice: 'Correct that, and give the command again.',
  }),
  'branch-gone': ({ branch }) => ({
    why: `the branch ${branch} is gone`,
    advice: 'Restore the branch, or change repo-ref of the deployment.',
  }),
  'not-head': ({ commit, head, branch }) => ({
    why: `${commit} is not the head of ${branch}, which is ${shortCommit(head)}, and only a head can be built`,
    advice: `Look at ${shortCommit(head)}, and give the command with it; /rollback restores an earlier revision.`,
  }),
  'nothing-live': ({ deployment }) => ({
    why: `nothing of ${deployment} is live`,
    advice: 'Deploy it first.',
  }),
  'no-tests': ({ deployment }) => ({
    why: `the deploy file names no smoke test of ${deployment} that can be sent to the live revision`,
    advice: 'Add smoke-tests to its entry on the default branch; those against the live revision run in deploys only.',
  }),
  'too-many-tests': ({ tests, most }) => ({
    why: `it makes ${tests} tests, and at most ${most} are run at once`,
    advice: 'Give a smaller number.',
  }),
  'nothing-to-cancel': ({ deployment }) => ({
    why: `nothing of ${deployment} is waiting`,
    advice: 'Look at /status.',
  }),
  'too-late': ({ deployment, commit }) => ({
    why: `commit ${shortCommit(commit)} was sent to the service of ${deployment} already, and can't be cancelled any more`,
    advice: 'Wait for its end, and give /rollback if it must not serve.',
  }),
  'nothing-held': ({ deployment }) => ({
    why: `no revision of ${deployment} is held before traffic, and no environments are configured to promote from`,
    advice: 'Look at /status.',
  }),
  'only-promoted': ({ deployment, from }) => ({
    why: `${deployment} gets what ${from} has proven, and not the head of a branch`,
    advice: `Deploy to ${from}, and give /promote ${deployment} once it is proven there.`,
  }),
  'promoted-already': ({ deployment, commit }) => ({
    why: `${deployment} serves commit ${shortCommit(commit)}, which is what the environment before has proven, already`,
    advice: 'Look at /status.',
  }),
  'earlier-missing': earlier,
  'earlier-not-live': earlier,
  'earlier-other-commit': earlier,
  'earlier-unproven': earlier,
  'hold-over': ({ deployment, revisionId }) => ({
    why: `revision ${revisionId} of ${deployment} is not held any more`,
    advice: 'Look at /status, and deploy it again.',
  }),
  'changed-since': ({ deployment, revisionId }) => ({
    why: `revision ${revisionId} of ${deployment} has taken its place since the comment was written`,
    advice: 'Look at /status, and give the command again if you mean that one.',
  }),
  'commit-unknown': ({ deployment, revisionId }) => ({
    why: `it is unknown of which commit revision ${revisionId} of ${deployment} is, so that it could not be reported`,
    advice: 'Use the console or `npx landfall` for it.',
  }),
  'file-unread': ({ deployment }) => ({
    why: `the deploy file has a mistake, so that it is unknown who may act on ${deployment}`,
    advice: 'Correct the deploy file on the default branch: the check of its newest commit names the mistake.',
  }),
  frozen: ({ deployment, command, ...facts }) => ({
    why: frozenWords(facts),
    advice: `Wait for the end, or give /${command} ${deployment} ignore-freeze if it can't wait. /rollback goes back at any time.`,
  }),
  'requested-since': ({ deployment, commit }) => ({
    why: `commit ${shortCommit(commit)} was requested of ${deployment} since the comment was written`,
    advice: 'Look at /status, and give the command again if you mean that one.',
  }),
  'nothing-to-approve': ({ deployment, commit }) => ({
    why: `commit ${shortCommit(commit)} does not wait for an approval of ${deployment}`,
    advice: 'Look at its check, and at that of the newest commit.',
  }),
  'not-reviewer': ({ login, environment, names }) => ({
    why: `${login} is not a reviewer of the environment ${environment}`,
    advice: names.length > 0 ? `Ask one of these: ${list(names)}.` : 'Add a reviewer to the environment at GitHub.',
  }),
  'own-review': ({ login, environment }) => ({
    why: `${login} requested this deploy or wrote its commit, and the environment ${environment} prevents self-review`,
    advice: 'Ask another reviewer.',
  }),
  'team-unread': ({ login, environment, team }) => ({
    why: `it is unknown whether ${login} is in the team ${team}, which reviews the environment ${environment}`,
    advice: 'Give the App the permission Members (read) of the organisation, or name the reviewers as people.',
  }),
  'previews-unread': () => ({
    why: 'the deploy file has a mistake, so that it is unknown what it says of previews',
    advice: 'Correct the deploy file on the default branch: the check of its newest commit names the mistake.',
  }),
  'no-label': ({ label }) => ({
    why: `previews are made of pull requests with the label ${label}, which this one lacks`,
    advice: 'Add the label.',
  }),
  'no-previews': () => ({
    why: 'no preview is configured',
    advice: 'Add preview to an entry of the deploy file on the default branch.',
  }),
  'fork-commit': ({ head }) => ({
    why: `the pull request is from a fork, and nothing of it runs before a person has looked at that very commit and named it in full`,
    advice: `Look at its head, and give /preview ${head}.`,
  }),
  'not-pull-head': ({ commit, head }) => ({
    why: `${commit} is not the head of the pull request, which is ${head}`,
    advice: `Look at that commit, and give /preview ${head}.`,
  }),
  'service-error': ({ text }) => ({
    why: `the service refused it: ${text}`,
    advice: 'Look at the deployment there, and give the command again.',
  }),
  edited: () => ({
    why: 'the comment was edited since it was written',
    advice: 'Give the command in a comment of its own.',
  }),
  'rerun-by-other': ({ login, by }) => ({
    why: `${login} started the run of a command again that ${by} gave`,
    advice: 'Give the command in a comment of your own.',
  }),
  'rights-unread': ({ login }) => ({
    why: `GitHub does not say what ${login} may do in this repository`,
    advice: 'Give github.token as github-token, and start the run again.',
  }),
  'no-file': ({ path }) => ({
    why: `the default branch has no deploy file at ${path} that this workflow may read`,
    advice: 'Add the file, or give the job `permissions: contents: read`.',
  }),
  'file-wrong': ({ text }) => ({
    why: `the deploy file has a mistake: ${text}`,
    advice: 'Correct it, and give the command again.',
  }),
  'cancel-by-workflow': () => ({
    why: 'a workflow sends each change as soon as its run begins, so that nothing waits that could be cancelled',
    advice: 'Cancel the run on the page Actions, or give /rollback once its revision serves.',
  }),
  'fork-plan': () => ({
    why: 'the pull request is from a fork, whose deploy file is not read here',
    advice: 'Read what it changes, and merge it or push the branch to this repository.',
  }),
  'folder-preview': () => ({
    why: 'the preview of a folder needs the files of the pull request, and this run has those of the default branch',
    advice: 'Preview it with mode: preview in a workflow of the pull request.',
  }),
  'checkout-outdated': ({ branch, head }) => ({
    why: `this run has not the files of the head of ${branch}, which is ${shortCommit(head)}`,
    advice: 'Give the command in a new comment.',
  }),
  'no-commit': ({ deployment }) => ({
    why: `${deployment} is not built from a commit`,
    advice: 'Give the command without a commit.',
  }),
  'begun-before': ({ deployment }) => ({
    why: `an earlier attempt of this run had begun to change ${deployment}, and may have done it`,
    advice: 'Look at /status before you give the command again.',
  }),
  'no-rollback': ({ deployment, why }) => ({
    why: `${deployment} has nothing to go back to: ${noRollbackWords(why)}`,
    advice: 'Revert the commit and push, or deploy the former one with the Action.',
  }),
};

/** Why a command is refused, and what to do about it. */
export const refusalWords = (refusal: CommandRefusal): RefusalWords => say(refusals, refusal);

/** The same in one text without its last full stop. */
export function refusalText(refusal: CommandRefusal): string {
  const { why, advice } = refusalWords(refusal);
  return `${why}. ${withoutFullStop(advice)}`;
}

const results: Sayings<CommandResults> = {
  ran: ({ outcome, reason, advice }) =>
    `${capitalized(outcome)}: ${withoutFullStop(reason)}${advice === undefined ? '' : `. ${advice}`}`,
  helped: () => 'Commands stand at the start of a comment on a pull request, one in each comment',
  'status-shown': () => 'This is how the deployments of the branches of this pull request stand',
  deployed: ({ deployment, commit, branch, isOfPull }) =>
    `Requested ${deployment} at commit ${shortCommit(commit)}, the head of ${branch}; a push before it is sent ends the request` +
    (isOfPull ? '' : '. The changes of this pull request are part of it once they are merged'),
  'rolled-back': ({ deployment, revisionId, commit }) =>
    `Requested ${deployment} to go back to revision ${revisionId} of commit ${shortCommit(commit)}`,
  'tests-requested': ({ deployment, revisionId, tests }) =>
    `Requested ${tests} smoke test${tests === 1 ? '' : 's'} of revision ${revisionId} of ${deployment}, which serves; pushes wait for their end`,
  promoted: ({ deployment, revisionId }) =>
    `Revision ${revisionId} of ${deployment} is promoted, and tested while it serves`,
  approved: ({ deployment, commit }) => `Approved commit ${shortCommit(commit)} of ${deployment}`,
  'promotion-requested': ({ deployment, commit, from }) =>
    `Requested commit ${shortCommit(commit)}, which ${from} has proven, of ${deployment}`,
  cancelled: ({ deployment, commits }) =>
    `Cancelled what was not sent of ${deployment}: ${list(commits.map(shortCommit))}`,
  planned: ({ title }) => title,
  previewed: ({ commit, isFork }) =>
    `Requested the preview of commit ${shortCommit(commit)}${isFork ? '; another commit needs it again' : ''}`,
};

/** What a command did: a sentence without its full stop. */
export const resultWords = (result: CommandResult): string => say(results, result);

/** The list of the commands, in Markdown; those of a workflow alone are fewer. */
export const commandTable = (isOfWorkflow = false): string =>
  [
    '| command | what it does |',
    '|---|---|',
    ...commandNames.flatMap((name) => {
      const { does, byWorkflow } = commands[name];
      const shown = isOfWorkflow ? (byWorkflow === undefined ? does : byWorkflow) : does;
      return shown === null ? [] : [`| \`${usageOf(name)}\` | ${shown} |`];
    }),
  ].join('\n');
