import type { context as Context } from '@actions/github';
import { steadyClock } from '../clock.ts';
import type { Mode } from '../config/entry-options.ts';
import type { Outcome } from '../deploy/outcome-types.ts';
import type { DeployEvent } from '../deploy/deploy-event.ts';
import type { Workflow } from '../planning/commit.ts';
import type { GitHubReporting } from './read-request.ts';
import { connectGitHub } from './github-connection.ts';
import { GitHubReporter, type RunReport } from './github-reporter.ts';
import { version } from './version.ts';

/** The workflow run, from its environment. `runAttempt` is NaN if the runner does not report it. */
export type RunFacts = Pick<typeof Context, 'sha' | 'apiUrl' | 'serverUrl' | 'runId' | 'runAttempt'> &
  Pick<Workflow, 'repository'> & {
    headSha: string | undefined;
    payload: { pull_request?: { number: number } | undefined };
  };

/** Reports a deploy run on GitHub, during the run and at its end. */
export interface RunReporter {
  emit: (event: DeployEvent) => void;
  concluded(outcome: Outcome): Promise<void>;
}

/** Starts reporting a deploy run on GitHub: in the comment on its pull request, and as a GitHub Deployment. */
export function createRunReporter(
  reporting: GitHubReporting,
  facts: RunFacts,
  deployRun: { mode: Mode; name: string },
  warn: (message: string) => void,
): RunReporter {
  const client = connectGitHub(facts.apiUrl, reporting.token, { userAgent: `landfall-action/${version}` });
  const reporter = new GitHubReporter({
    client,
    run: runReportOf(reporting, facts, deployRun),
    clock: steadyClock,
    warn,
  });
  return {
    emit: reporter.emit,
    concluded: async (outcome) => {
      await reporter.concluded(outcome);
      await client.close();
    },
  };
}

/** What of a run is shown. Only `deploy` puts a commit somewhere, so only it makes a GitHub Deployment. */
export function runReportOf(
  { comment, deployment, environment }: GitHubReporting,
  { repository, sha, serverUrl, runId, runAttempt, payload, headSha }: RunFacts,
  { mode, name }: { mode: Mode; name: string },
): RunReport {
  const [owner = '', repo = ''] = repository.split('/');
  const pull = payload.pull_request;
  const environmentName = environment ?? name;
  return {
    repository: { owner, name: repo },
    commit: headSha ?? sha,
    externalId: `${runId}-${Number.isNaN(runAttempt) ? 1 : runAttempt} ${name}`,
    name,
    runUrl: `${serverUrl}/${repository}/actions/runs/${runId}`,
    // The same in every mode: a plan and the deployment after it share one comment.
    about: environment === undefined ? name : `${name} in ${environment}`,
    ...(comment && pull ? { pullRequest: pull.number } : {}),
    ...(deployment && mode === 'deploy'
      ? {
          environment: {
            name: environmentName,
            production: pull === undefined && /^prod(uction)?$/i.test(environmentName),
            transient: pull !== undefined,
          },
        }
      : {}),
  };
}
