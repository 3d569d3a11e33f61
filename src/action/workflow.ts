import type { context as Context } from '@actions/github';
import type { Workflow } from '../planning/commit.ts';

/** The event of the workflow run: its commit, and whether secrets are available. */
export interface WorkflowRun {
  workflow: Workflow | undefined;
  /** True where GitHub hands out no secrets: a fork's pull request, or Dependabot's. */
  withoutSecrets: boolean;
}

type Event = Pick<typeof Context, 'eventName' | 'sha' | 'ref' | 'serverUrl' | 'runId' | 'actor' | 'payload'>;

/** Reads the run's event; `repository` is `owner/name`, absent where no runner is. */
export function readWorkflow(event: Event, repository: string | undefined): WorkflowRun {
  const head = headOf(event.payload['pull_request']);
  const isPullRequest = head !== undefined;
  const isFork = isPullRequest && head.repository?.toLowerCase() !== repository?.toLowerCase();
  const workflow: Workflow | undefined =
    repository && event.sha && event.ref
      ? {
          repository,
          serverUrl: event.serverUrl,
          ref: event.ref,
          sha: event.sha,
          runUrl: `${event.serverUrl}/${repository}/actions/runs/${event.runId}`,
          ...(head?.ref ? { headRef: head.ref } : {}),
          ...(head?.sha ? { headSha: head.sha } : {}),
          ...(head?.repository ? { headRepository: head.repository } : {}),
        }
      : undefined;
  return { workflow, withoutSecrets: isFork || event.actor === 'dependabot[bot]' };
}

interface Head {
  ref: string | undefined;
  sha: string | undefined;
  repository: string | undefined;
}

function headOf(pullRequest: unknown): Head | undefined {
  const head = part(pullRequest, 'head');
  if (head === undefined) return undefined;
  return { ref: text(head, 'ref'), sha: text(head, 'sha'), repository: text(part(head, 'repo'), 'full_name') };
}

const part = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null && key in value ? Reflect.get(value, key) : undefined;

function text(value: unknown, key: string): string | undefined {
  const found = part(value, key);
  return typeof found === 'string' ? found : undefined;
}
