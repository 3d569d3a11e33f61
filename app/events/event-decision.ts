import { decideCheckRun, decideCheckSuite } from './decide-checks.ts';
import { decideDelete, decideMergeGroup, decidePullRequest, decidePush } from './decide-commits.ts';
import { decideInstallation, decideInstallationRepositories, decideRepository } from './decide-installation.ts';
import { hasInstallation } from './event-payloads.ts';
import type { EventDecision } from './event-types.ts';

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
