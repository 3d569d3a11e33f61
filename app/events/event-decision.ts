import {
  actionOf,
  deletePayload,
  hasInstallation,
  ignored,
  installationPayload,
  installationRepositoriesPayload,
  mergeGroupPayload,
  numberedPayload,
  pullRequestPayload,
  pushPayload,
  decideOnPayload,
  installationRepositoryOf,
  repositoryPayload,
} from './event-payloads.ts';
import { decideCheckRun, decideCheckSuite, decideStatus } from './check-decision.ts';
import type { EventDecision, InstallationChange } from './event-types.ts';
import { decideIssueComment } from './comment-decision.ts';
import { pushFrom } from '../../src/deploy/rules/trigger.ts';
import { noPushWords } from '../../src/deploy/words/decision.ts';

type Decide = (payload: unknown) => EventDecision;

/** How each event is decided. A text is the reason why an event is ignored. */
const events: ReadonlyMap<string, Decide | string> = new Map<string, Decide | string>([
  ['push', decidePush],
  ['delete', decideDelete],
  ['check_run', decideCheckRun],
  ['check_suite', decideCheckSuite],
  ['status', decideStatus],
  ['pull_request', decidePullRequest],
  ['merge_group', decideMergeGroup],
  ['issue_comment', decideIssueComment],
  ['installation', decideInstallation],
  ['installation_repositories', decideInstallationRepositories],
  ['repository', decideRepository],
  ['ping', 'it only tries the address'],
  ['create', 'a new branch or tag also sends a push event'],
  ['deployment', 'GitHub Deployments are only written by this App'],
  ['deployment_status', 'GitHub Deployments are only written by this App'],
  ['installation_target', 'names are taken from the next event of each repository'],
]);

/** Decides what an event requires, and why. Never throws: an invalid payload becomes an `ignore` with the problem. */
export function decideEvent(name: string, payload: unknown): EventDecision {
  const decide = events.get(name) ?? 'Landfall does nothing about events of this name';
  if (typeof decide === 'string') return ignored(decide);
  if (!hasInstallation(payload)) return ignored('it names no installation of the App, so no action is possible');
  return decide(payload);
}

const installationChanges: ReadonlyMap<string, { change: InstallationChange; why: string }> = new Map([
  ['created', { change: 'added', why: 'the App was installed' }],
  ['new_permissions_accepted', { change: 'added', why: "the App's new permissions were accepted" }],
  ['deleted', { change: 'removed', why: 'the App was uninstalled' }],
  ['suspend', { change: 'suspended', why: 'the installation was suspended' }],
  ['unsuspend', { change: 'resumed', why: 'the installation was resumed' }],
]);

/** An account installs, removes, suspends or resumes the App. */
function decideInstallation(payload: unknown): EventDecision {
  const installationChange = installationChanges.get(actionOf(payload) ?? '');
  if (!installationChange) return ignored('it changes nothing about what the App reaches');
  return decideOnPayload(installationPayload, payload, ({ installation, repositories }) => ({
    kind: 'installation',
    installationId: installation.id,
    ...installationChange,
    // An uninstall removes the App from every repository, whatever the list holds.
    ...(repositories && installationChange.change === 'added'
      ? { repositories: repositories.map((each) => installationRepositoryOf(each, installation)) }
      : {}),
  }));
}

/** An installation reaches more repositories, or fewer. */
function decideInstallationRepositories(payload: unknown): EventDecision {
  return decideOnPayload(installationRepositoriesPayload, payload, ({ installation, ...lists }) => {
    const [added, removed] = [lists.repositories_added, lists.repositories_removed];
    if (added.length === 0 && removed.length === 0) return ignored('it names no repository');
    const isRemoval = added.length === 0;
    return {
      kind: 'installation',
      installationId: installation.id,
      change: isRemoval ? 'removed' : 'added',
      repositories: (isRemoval ? removed : added).map((each) => installationRepositoryOf(each, installation)),
      why: isRemoval ? 'the App was removed from repositories' : 'the App was added to repositories',
    };
  });
}

const renames: ReadonlyMap<string, string> = new Map([
  ['renamed', 'the repository has a new name'],
  ['transferred', 'the repository has a new owner'],
]);
const removals: ReadonlyMap<string, string> = new Map([
  ['deleted', 'the repository was deleted'],
  ['archived', 'the repository was archived, so nothing can be reported there any more'],
]);

/** A repository was renamed or removed. All other changes have their own events. */
function decideRepository(payload: unknown): EventDecision {
  const action = actionOf(payload) ?? '';
  const [renamed, ended] = [renames.get(action), removals.get(action)];
  const why = renamed ?? ended;
  if (why === undefined) return ignored('of a repository only a new name or owner, or its end, changes something here');
  return decideOnPayload(repositoryPayload, payload, (read) => {
    const repository = installationRepositoryOf(read.repository, read.installation);
    const { installationId } = repository;
    return renamed === undefined
      ? { kind: 'installation', installationId, change: 'removed', repositories: [repository], why }
      : { kind: 'repository-renamed', repository, why };
  });
}

const branchPrefix = 'refs/heads/';

/** A push to a branch is examined; a push that deletes the branch is a deletion. */
function decidePush(payload: unknown): EventDecision {
  return decideOnPayload(pushPayload, payload, (read) => {
    const repository = installationRepositoryOf(read.repository, read.installation);
    const trigger = pushFrom(read);
    if (trigger.kind === 'push') {
      const { branch, after, created, forced } = trigger.push;
      const how = created ? 'made with a push' : forced ? 'pushed with force' : 'pushed';
      const by = read.sender === undefined ? {} : { by: read.sender.login };
      return { kind: 'push', repository, branch, after, ...by, why: `the branch was ${how}` };
    }
    const why = noPushWords[trigger.code];
    if (trigger.code === 'deleted') {
      return { kind: 'branch-deleted', repository, branch: read.ref.slice(branchPrefix.length), why };
    }
    if (trigger.code === 'fork') return { kind: 'nothing-to-build', repository, headSha: read.after, why };
    return ignored(why);
  });
}

/** The deletion of a branch. A push event says the same; either may arrive alone. */
function decideDelete(payload: unknown): EventDecision {
  return decideOnPayload(deletePayload, payload, ({ ref, ref_type: type, repository, installation }) =>
    type === 'branch'
      ? {
          kind: 'branch-deleted',
          repository: installationRepositoryOf(repository, installation),
          branch: ref,
          why: 'the branch was deleted',
        }
      : ignored('a tag was deleted, and tags are not built on push'),
  );
}

const examinedActions: ReadonlyMap<string, string> = new Map([
  ['opened', 'a pull request was opened'],
  ['reopened', 'a pull request was opened again'],
  ['synchronize', 'a pull request has a new head'],
  ['edited', 'a pull request goes to another branch'],
]);

/** What changes nothing about the check of a pull request, and something about its preview. */
const previewActions: ReadonlyMap<string, string> = new Map([
  ['closed', 'a pull request was closed'],
  ['labeled', 'a pull request got a label'],
  ['unlabeled', 'a pull request lost a label'],
  ['ready_for_review', 'a pull request is ready for review'],
]);

/**
 * Every new head of a pull request gets a check, and again after its base changed. Its preview is looked at as GitHub
 * has the pull request then, so no more than its number is read.
 */
function decidePullRequest(payload: unknown): EventDecision {
  const action = actionOf(payload);
  const whyPreview = previewActions.get(action ?? '');
  if (whyPreview !== undefined) {
    return decideOnPayload(numberedPayload, payload, ({ number, repository, installation }) => ({
      kind: 'preview',
      repository: installationRepositoryOf(repository, installation),
      number,
      why: whyPreview,
    }));
  }
  const why = examinedActions.get(action ?? '');
  if (why === undefined) return ignored('it changes neither the head nor the base of a pull request');
  return decideOnPayload(pullRequestPayload, payload, ({ number, pull_request: pull, changes, ...at }) => {
    if (action === 'edited' && !changes?.base) return ignored('only words of the pull request were changed');
    return {
      kind: 'pull-request',
      repository: installationRepositoryOf(at.repository, at.installation),
      number,
      headSha: pull.head.sha,
      baseBranch: pull.base.ref,
      fork: pull.head.repo?.id !== at.repository.id,
      why,
    };
  });
}

/** A merge group waits for its checks as a pull request does. */
function decideMergeGroup(payload: unknown): EventDecision {
  if (actionOf(payload) !== 'checks_requested') return ignored('only a merge group that waits for checks needs one');
  return decideOnPayload(mergeGroupPayload, payload, ({ merge_group: group, repository, installation }) => ({
    kind: 'merge-group',
    repository: installationRepositoryOf(repository, installation),
    headSha: group.head_sha,
    baseBranch: group.base_ref.startsWith(branchPrefix) ? group.base_ref.slice(branchPrefix.length) : group.base_ref,
    why: 'a merge group waits for its checks',
  }));
}
