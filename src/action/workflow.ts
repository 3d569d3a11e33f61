import type { Workflow } from '../deploy/file/workflow.ts';
import type { RunEvent } from './run-event.ts';

/** What the event of the workflow run is about, and whether secrets are available. */
export interface WorkflowRun {
  workflow: Workflow | undefined;
  /** The run is about a pull request, whether or not its number is known. */
  isPullRequest: boolean;
  /** GitHub hands out no secrets of the repository: to a fork's pull request, or to Dependabot. */
  withoutSecrets: boolean;
  isDependabot: boolean;
}

/** Reads the run's event: the commit that it is about, which is not GITHUB_SHA for every event. */
export function readWorkflow(event: RunEvent): WorkflowRun {
  const { repository, serverUrl, runId, actor } = event;
  const { sha, ref, head, pullRequest, isPullRequest = head !== undefined } = subjectOf(event);
  const isFork = event.payload['pull_request'] !== undefined && !isSame(head?.repository, repository);
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
  return { workflow, isPullRequest, withoutSecrets: isFork || isDependabot, isDependabot };
}

/** The head of a pull request. */
export interface PullRequestHead {
  ref: string | undefined;
  sha: string | undefined;
  repository: string | undefined;
}

/** What a workflow says of the head of its pull request. */
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
  /** Absent: exactly where there is a head. */
  isPullRequest?: boolean;
}

/**
 * What an event is about. `workflow_run`, `check_run`, `check_suite` and `status` run on the default branch but are of
 * another commit; a comment on a pull request names the pull request alone.
 */
function subjectOf({ payload, sha, ref, repository }: RunEvent): Subject {
  const pull = payload['pull_request'];
  const head = headOf(pull);
  if (head) return { sha, ref, head, pullRequest: numberOf(pull) };
  const other =
    payload['workflow_run'] ?? payload['check_suite'] ?? part(payload['check_run'], 'check_suite') ?? undefined;
  if (other !== undefined) return subjectOfRun(other, repository, payload['repository']) ?? { sha, ref };
  const issue = payload['issue'];
  if (part(issue, 'pull_request')) return { sha, ref, pullRequest: numberOf(issue), isPullRequest: true };
  const reported = text(payload['merge_group'], 'head_sha') ?? text(payload, 'sha');
  return { sha: reported ?? sha, ref };
}

/**
 * The run or the checks of a commit, of which a workflow was told. Its pull requests may be of other repositories: those
 * into a fork and those from it have the same head.
 */
function subjectOfRun(run: unknown, repository: string, here: unknown): Subject | undefined {
  const sha = text(run, 'head_sha');
  if (sha === undefined) return undefined;
  const ref = text(run, 'head_branch') ?? '';
  const pulls = part(run, 'pull_requests');
  const pull: unknown = Array.isArray(pulls) ? pulls.find((each) => isInto(each, here)) : undefined;
  const isOfPullRequest = text(run, 'event')?.startsWith('pull_request') ?? pull !== undefined;
  if (!isOfPullRequest) return { sha, ref };
  const head = { ref, sha, repository: text(part(run, 'head_repository'), 'full_name') ?? repository };
  return { sha, ref, head, pullRequest: numberOf(pull) };
}

/** Whether a pull request is one into this repository; one that does not say where it goes is taken for that. */
function isInto(pull: unknown, here: unknown): boolean {
  const base = part(part(part(pull, 'base'), 'repo'), 'id');
  return base === undefined || base === part(here, 'id');
}

/** The head of a pull request as GitHub's API and its events describe it. */
export function headOf(pullRequest: unknown): PullRequestHead | undefined {
  const head = part(pullRequest, 'head');
  if (head === undefined) return undefined;
  return { ref: text(head, 'ref'), sha: text(head, 'sha'), repository: text(part(head, 'repo'), 'full_name') };
}

const isSame = (one: string | undefined, other: string): boolean => one?.toLowerCase() === other.toLowerCase();

const part = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null && key in value ? Reflect.get(value, key) : undefined;

function text(value: unknown, key: string): string | undefined {
  const found = part(value, key);
  return typeof found === 'string' && found !== '' ? found : undefined;
}

function numberOf(value: unknown): number | undefined {
  const found = part(value, 'number');
  return typeof found === 'number' ? found : undefined;
}
