import { decideCheckRun, decideCheckSuite } from './decide-checks.ts';
import { decideDelete, decideMergeGroup, decidePullRequest, decidePush } from './decide-commits.ts';
import {
  actionOf,
  hasInstallation,
  ignored,
  installationPayload,
  installationRepositoriesPayload,
  readPayload,
  repositoryAt,
  repositoryPayload,
} from './event-payloads.ts';
import type { EventDecision, InstallationChange } from './event-types.ts';

type Decide = (payload: unknown) => EventDecision;

const decideBy: ReadonlyMap<string, Decide> = new Map<string, Decide>([
  ['push', decidePush],
  ['delete', decideDelete],
  ['check_run', decideCheckRun],
  ['check_suite', decideCheckSuite],
  ['pull_request', decidePullRequest],
  ['merge_group', decideMergeGroup],
  ['installation', decideInstallation],
  ['installation_repositories', decideInstallationRepositories],
  ['repository', decideRepository],
]);

/** Ignored events, each with its reason. */
const passedOver: ReadonlyMap<string, string> = new Map([
  ['ping', 'it only tries the address'],
  ['issue_comment', 'Landfall takes no commands from comments: its checks have buttons'],
  ['create', 'a new branch or tag also sends a push event'],
  ['status', 'the statuses of others decide nothing here'],
  ['deployment', 'the Deployments on GitHub are written here, not obeyed'],
  ['deployment_status', 'the Deployments on GitHub are written here, not obeyed'],
  ['installation_target', 'names are taken from the next event of each repository'],
]);

/** The events that can ask for something. */
export const decidedEvents: readonly string[] = [...decideBy.keys()];

/**
 * Decides what an event requires, and why. Pure, and never throws: an invalid payload becomes an `ignore` that names
 * the problem.
 */
export function decideEvent(name: string, payload: unknown): EventDecision {
  const decide = decideBy.get(name);
  if (!decide)
    return { kind: 'ignore', why: passedOver.get(name) ?? 'Landfall does nothing about events of this name' };
  if (!hasInstallation(payload)) {
    return { kind: 'ignore', why: 'it names no installation of the App, so no action is possible' };
  }
  return decide(payload);
}

const changes: ReadonlyMap<string, { change: InstallationChange; why: string }> = new Map([
  ['created', { change: 'added', why: 'the App was installed' }],
  ['new_permissions_accepted', { change: 'added', why: "the App's new permissions were accepted" }],
  ['deleted', { change: 'removed', why: 'the App was uninstalled' }],
  ['suspend', { change: 'suspended', why: 'the installation was suspended' }],
  ['unsuspend', { change: 'resumed', why: 'the installation was resumed' }],
]);

/** An account installs, removes, suspends or resumes the App. */
function decideInstallation(payload: unknown): EventDecision {
  const known = changes.get(actionOf(payload) ?? '');
  if (!known) return ignored('it changes nothing about what the App reaches');
  return readPayload(installationPayload, payload, ({ installation, repositories }) => ({
    kind: 'installation',
    installationId: installation.id,
    ...known,
    // An uninstall removes the App from every repository, whatever the list holds.
    ...(repositories && known.change === 'added'
      ? { repositories: repositories.map((each) => repositoryAt(each, installation)) }
      : {}),
  }));
}

/** An installation reaches more repositories, or fewer. */
function decideInstallationRepositories(payload: unknown): EventDecision {
  return readPayload(installationRepositoriesPayload, payload, ({ installation, ...lists }) => {
    const [added, removed] = [lists.repositories_added, lists.repositories_removed];
    if (added.length === 0 && removed.length === 0) return ignored('it names no repository');
    const isRemoval = added.length === 0;
    return {
      kind: 'installation',
      installationId: installation.id,
      change: isRemoval ? 'removed' : 'added',
      repositories: (isRemoval ? removed : added).map((each) => repositoryAt(each, installation)),
      why: isRemoval ? 'the App was removed from repositories' : 'the App was added to repositories',
    };
  });
}

const renamings: ReadonlyMap<string, string> = new Map([
  ['renamed', 'the repository has a new name'],
  ['transferred', 'the repository has a new owner'],
]);
const endings: ReadonlyMap<string, string> = new Map([
  ['deleted', 'the repository was deleted'],
  ['archived', 'the repository was archived, so nothing can be reported there any more'],
]);

/** Renames and removal of a repository. Other events carry all other changes. */
function decideRepository(payload: unknown): EventDecision {
  const action = actionOf(payload) ?? '';
  const [renamed, ended] = [renamings.get(action), endings.get(action)];
  const why = renamed ?? ended;
  if (why === undefined) return ignored('of a repository only a new name or owner, or its end, changes something here');
  return readPayload(repositoryPayload, payload, (read) => {
    const repository = repositoryAt(read.repository, read.installation);
    const { installationId } = repository;
    return renamed === undefined
      ? { kind: 'installation', installationId, change: 'removed', repositories: [repository], why }
      : { kind: 'repository-renamed', repository, why };
  });
}
