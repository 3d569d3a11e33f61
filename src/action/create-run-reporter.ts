import { steadyClock } from '../kit/clock.ts';
import type { Mode } from '../deploy/file/entry-options.ts';
import type { Outcome } from '../deploy/machine/outcome-types.ts';
import type { DeployEvent } from '../deploy/machine/deploy-event.ts';
import type { Workflow } from '../deploy/file/workflow.ts';
import type { GitHubReporting } from './read-step.ts';
import type { GitHubClient } from '../github/client.ts';
import { GitHubReporter } from './github-reporter.ts';
import type { RunReport } from './deployment-reports.ts';
import type { RunEvent } from './run-event.ts';

/** The workflow run, what it is about, and the step in it. */
export interface RunFacts {
  workflow: Workflow;
  event: Pick<RunEvent, 'runId' | 'runAttempt'>;
  /** The commit that is to be deployed, where it is not the one that the event is about. */
  commit: string | undefined;
  /** The workflow, the job, the step, and its leg of a matrix. */
  step: string;
}

/** Reports a deploy run on GitHub, during the run and at its end. */
export interface RunReporter {
  emit: (event: DeployEvent) => void;
  concluded(outcome: Outcome): Promise<void>;
}

/** The modes that change what an environment shows: by a commit that is put there, or by the end of one. */
const modesOfEnvironment: ReadonlySet<Mode> = new Set(['deploy', 'rollback', 'delete']);

/** Starts reporting a deploy run on GitHub: in the comment on its pull request, and as a GitHub Deployment. */
export const createRunReporter = (
  client: GitHubClient,
  reporting: GitHubReporting,
  facts: RunFacts,
  deployRun: { mode: Mode; name: string | undefined },
  warn: (message: string) => void,
): RunReporter =>
  new GitHubReporter({ client, run: runReportOf(reporting, facts, deployRun), clock: steadyClock, warn });

/** What of a run is shown. A plan and smoke tests put no commit anywhere, so they make no GitHub Deployment. */
export function runReportOf(
  { comment, deployment, environment }: GitHubReporting,
  { workflow, event, commit, step }: RunFacts,
  { mode, name }: { mode: Mode; name: string | undefined },
): RunReport {
  const { repository, serverUrl, sha, headSha, pullRequest, headRef, runUrl } = workflow;
  const [owner = '', repo = ''] = repository.split('/');
  const isPullRequest = pullRequest !== undefined || headRef !== undefined;
  const environmentName = environment ?? name;
  return {
    mode,
    repository: { owner, name: repo },
    repositoryUrl: `${serverUrl}/${repository}`,
    commit: commit ?? headSha ?? sha,
    step,
    externalId: `${event.runId}-${event.runAttempt} ${name ?? 'deployment'}`,
    ...(name === undefined ? {} : { name }),
    runUrl,
    // The same in every mode: a plan and the deployment after it share one comment.
    ...(name === undefined ? {} : { about: environment === undefined ? name : `${name} in ${environment}` }),
    ...(comment && pullRequest ? { pullRequest } : {}),
    ...(deployment && modesOfEnvironment.has(mode) && environmentName !== undefined
      ? {
          environment: {
            name: environmentName,
            production: !isPullRequest && /^prod(uction)?$/i.test(environmentName),
            transient: isPullRequest,
          },
        }
      : {}),
  };
}
