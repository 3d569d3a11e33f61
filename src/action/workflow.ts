import type { Workflow } from '../deploy/file/workflow.ts';
import type { RunEvent } from './run-event.ts';

/** The subject of the workflow run's event, and whether secrets are available. */
export interface WorkflowRun {
  workflow: Workflow | undefined;
  /** Whether the run belongs to a pull request, even if its number is unknown. */
  isPullRequest: boolean;
  /** Whether GitHub withholds the repository's secrets, as for a fork's pull request or Dependabot. */
  withoutSecrets: boolean;
  isDependabot: boolean;
  /** Whether the event closed a pull request. */
  isClosed: boolean;
}

/** Reads the run's event. Its commit is not GITHUB_SHA for every event. */
export function readWorkflow(event: RunEvent): WorkflowRun {
  const { repository, serverUrl, runId, actor } = event;
  const { sha, ref, head, pullRequest, isPullRequest = head !== undefined } = subjectOf(event);
  const isFork = event.payload['pull_request'] !== undefined && !equalsIgnoringCase(head?.repository, repository);
  const isDependabot = actor === 'dependabot[bot]';
  const workflow: Workflow | undefined =
    repository && sha
      ? {
          repository,
          serverUrl,
          ref,
          sha,
          runUrl: `${serverUrl}/${repository}/actions/runs/${runId}`,
          ...headFields(head),
          ...(pullRequest ? { pullRequest } : {}),
        }
      : undefined;
  const isClosed = textAt(event.payload['pull_request'], 'state') === 'closed';
  return { workflow, isPullRequest, withoutSecrets: isFork || isDependabot, isDependabot, isClosed };
}

/** The head of a pull request. */
export interface PullRequestHead {
  ref: string | undefined;
  sha: string | undefined;
  repository: string | undefined;
}

/** The fields of a workflow about the head of its pull request. */
export const headFields = ({ ref, sha, repository }: Partial<PullRequestHead> = {}) => ({
  ...(ref ? { headRef: ref } : {}),
  ...(sha ? { headSha: sha } : {}),
  ...(repository ? { headRepository: repository } : {}),
});

interface Subject {
  sha: string;
  ref: string;
  head?: PullRequestHead | undefined;
  pullRequest?: number | undefined;
  /** By default true exactly if there is a head. */
  isPullRequest?: boolean;
}

/**
 * The commit and the pull request of an event. `workflow_run`, `check_run`, `check_suite` and `status` run on the
 * default branch but are about another commit; the event of a comment has only the number of its pull request.
 */
function subjectOf({ payload, sha, ref, repository }: RunEvent): Subject {
  const pull = payload['pull_request'];
  const head = headOf(pull);
  if (head) return { sha, ref, head, pullRequest: numberOf(pull) };
  const subject =
    payload['workflow_run'] ?? payload['check_suite'] ?? valueAt(payload['check_run'], 'check_suite') ?? undefined;
  if (subject !== undefined) return subjectOfRun(subject, repository, payload['repository']) ?? { sha, ref };
  const issue = payload['issue'];
  if (valueAt(issue, 'pull_request')) return { sha, ref, pullRequest: numberOf(issue), isPullRequest: true };
  const reportedSha = textAt(payload['merge_group'], 'head_sha') ?? textAt(payload, 'sha');
  return { sha: reportedSha ?? sha, ref };
}

/**
 * The subject of a `workflow_run` or a check. It may list pull requests of other repositories, because those into a
 * fork and those from it have the same head.
 */
function subjectOfRun(run: unknown, repository: string, ownRepository: unknown): Subject | undefined {
  const sha = textAt(run, 'head_sha');
  if (sha === undefined) return undefined;
  const ref = textAt(run, 'head_branch') ?? '';
  const pulls = valueAt(run, 'pull_requests');
  const pull: unknown = Array.isArray(pulls) ? pulls.find((each) => targets(each, ownRepository)) : undefined;
  const isOfPullRequest = textAt(run, 'event')?.startsWith('pull_request') ?? pull !== undefined;
  if (!isOfPullRequest) return { sha, ref };
  const head = { ref, sha, repository: textAt(valueAt(run, 'head_repository'), 'full_name') ?? repository };
  return { sha, ref, head, pullRequest: numberOf(pull) };
}

/** Whether a pull request targets this repository; true if its target is unknown. */
function targets(pull: unknown, ownRepository: unknown): boolean {
  const base = valueAt(valueAt(valueAt(pull, 'base'), 'repo'), 'id');
  return base === undefined || base === valueAt(ownRepository, 'id');
}

/** The head of a pull request as GitHub's API and its events describe it. */
export function headOf(pullRequest: unknown): PullRequestHead | undefined {
  const head = valueAt(pullRequest, 'head');
  if (head === undefined) return undefined;
  return { ref: textAt(head, 'ref'), sha: textAt(head, 'sha'), repository: textAt(valueAt(head, 'repo'), 'full_name') };
}

const equalsIgnoringCase = (one: string | undefined, other: string): boolean =>
  one?.toLowerCase() === other.toLowerCase();

/** A property of what GitHub sent; undefined where there is none. */
export const valueAt = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null && key in value ? Reflect.get(value, key) : undefined;

/** A property that is a text with something in it. */
export function textAt(value: unknown, key: string): string | undefined {
  const found = valueAt(value, key);
  return typeof found === 'string' && found !== '' ? found : undefined;
}

/** The number of an issue or a pull request. */
export function numberOf(value: unknown): number | undefined {
  const found = valueAt(value, 'number');
  return typeof found === 'number' ? found : undefined;
}
