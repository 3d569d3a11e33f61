import { steadyClock } from '../kit/clock.ts';
import type { Mode } from '../deploy/file/entry-options.ts';
import type { Outcome } from '../deploy/machine/outcome-types.ts';
import type { DeployEvent } from '../deploy/machine/deploy-event.ts';
import type { Workflow } from '../deploy/file/workflow.ts';
import type { GitHubReporting } from './read-step.ts';
import type { GitHubClient } from '../github/client.ts';
import { GitHubReporter } from './github-reporter.ts';
import { previewEnvironment, previewTopic } from './preview-reports.ts';
import type { RunReport } from './deployment-reports.ts';
import type { RunEvent } from './run-event.ts';

/** The workflow run and the step in it. */
export interface RunFacts {
  workflow: Workflow;
  event: Pick<RunEvent, 'runId' | 'runAttempt'>;
  /** The commit to deploy, if it is not the one of the event. */
  commit: string | undefined;
  /** Identifies the step: workflow, job, step and matrix entry. */
  step: string;
}

/** Reports a deploy run on GitHub, during the run and at its end. */
export interface RunReporter {
  emit: (event: DeployEvent) => void;
  /** Reports the outcome. */
  finish(outcome: Outcome): Promise<void>;
}

/** The modes that change which commit an environment shows. */
const deployingModes: ReadonlySet<Mode> = new Set(['deploy', 'rollback', 'delete', 'preview']);

/** Starts reporting a deploy run on GitHub: in the comment on its pull request, and as a GitHub Deployment. */
export const createRunReporter = (
  client: GitHubClient,
  reporting: GitHubReporting,
  facts: RunFacts,
  deployRun: { mode: Mode; name: string | undefined },
  warn: (message: string) => void,
): RunReporter =>
  new GitHubReporter({ client, run: runReportOf(reporting, facts, deployRun), clock: steadyClock, warn });

/** The report of a run. Plans and smoke tests deploy nothing, so they have no GitHub Deployment. */
export function runReportOf(
  { comment, deployment, environment }: GitHubReporting,
  { workflow, event, commit, step }: RunFacts,
  { mode, name }: { mode: Mode; name: string | undefined },
): RunReport {
  const { repository, serverUrl, sha, headSha, pullRequest, headRef, runUrl } = workflow;
  const [owner = '', repo = ''] = repository.split('/');
  const isPullRequest = pullRequest !== undefined || headRef !== undefined;
  const isPreview = mode === 'preview';
  // A run about previews that belongs to no pull request deploys nothing.
  const ofPreview = pullRequest === undefined ? undefined : (environment ?? previewEnvironment(pullRequest));
  const environmentName = isPreview ? ofPreview : (environment ?? name);
  return {
    mode,
    repository: { owner, name: repo },
    repositoryUrl: `${serverUrl}/${repository}`,
    commit: commit ?? headSha ?? sha,
    step,
    externalId: `${event.runId}-${event.runAttempt} ${name ?? 'deployment'}`,
    ...(name === undefined ? {} : { name }),
    runUrl,
    // The same in every mode, so that a plan and the deployment after it share one comment.
    ...(name === undefined ? {} : { topic: isPreview ? previewTopic(name) : topicOf(name, environment) }),
    ...(comment && pullRequest ? { pullRequest } : {}),
    ...(isPreview ? { ofRemoved: { comments: comment, deployments: deployment } } : {}),
    ...(deployment && deployingModes.has(mode) && environmentName !== undefined
      ? {
          environment: {
            name: environmentName,
            production: !isPullRequest && !isPreview && /^prod(uction)?$/i.test(environmentName),
            transient: isPullRequest || isPreview,
          },
        }
      : {}),
  };
}

const topicOf = (name: string, environment: string | undefined): string =>
  environment === undefined ? name : `${name} in ${environment}`;
