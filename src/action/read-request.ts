import type { DesiredDeployment } from '../config/desired.ts';
import { type EntryOptions, type Mode, readEntryOptions } from '../config/entry-options.ts';
import type { Inputs } from '../config/input-table.ts';
import { inputProblem } from '../config/inputs.ts';
import { readRequested, readDesired, type RequestInput, type ReadDeployments } from '../config/read-desired.ts';
import type { Problem } from '../diagnostics/problem.ts';
import { OptionReader } from '../config/option-reader.ts';
import { workspaceCases } from './workspace-cases.ts';

/** What is to be shown on GitHub besides the step itself. */
export interface GitHubReporting {
  token: string;
  comment: boolean;
  deployment: boolean;
  /** The environment of the GitHub Deployment; undefined: named as the deployment is. */
  environment: string | undefined;
}

/** Reads the inputs that need `github-token`; undefined where there is none, or nothing to be done with it. */
export function readGitHubInputs(inputs: Inputs): { reporting: GitHubReporting | undefined; problems: Problem[] } {
  const read = new OptionReader(inputs);
  const token = read.text('github-token');
  const comment = read.flag('comment');
  const deployment = read.flag('github-deployment');
  const environment = read.text('environment');
  if (token === undefined && deployment) {
    read.addProblem('github-token', 'github-deployment needs github-token: give github.token');
  }
  const isRequested = token !== undefined && (comment || deployment);
  return {
    reporting: isRequested ? { token, comment, deployment, environment } : undefined,
    problems: read.problems,
  };
}

/** The whole request, or every problem with it. */
export type ReadRequest =
  { ok: true; options: EntryOptions; deployment: DesiredDeployment } | { ok: false; problems: Problem[] };

/** Reads inputs, deploy file, files of cases and environment into one deployment and how to go about it; every problem at once. */
export function readRequest(requested: RequestInput): ReadRequest {
  const options = readEntryOptions(requested.inputs);
  const deployments = readDeployments({ cases: workspaceCases, ...requested });
  if (!options.ok || !deployments.ok) {
    return {
      ok: false,
      problems: [...(options.ok ? [] : options.problems), ...(deployments.ok ? [] : deployments.problems)],
    };
  }
  const [deployment, ...more] = deployments.deployments;
  if (deployment && more.length === 0) return { ok: true, options: options.options, deployment };
  const names = deployments.deployments.map(({ desired }) => desired.name ?? desired.deploymentId).join(', ');
  const message = `the deploy file has more than one deployment: choose one with \`deployment\`, of ${names}`;
  return { ok: false, problems: [inputProblem('deployment', message)] };
}

/** Modes that need neither a source nor secrets. */
const modesWithoutSource: ReadonlySet<string | undefined> = new Set(['smoke', 'rollback', 'delete'] satisfies Mode[]);

function readDeployments(requested: RequestInput): ReadDeployments<DesiredDeployment> {
  if (!modesWithoutSource.has(requested.inputs['mode']?.trim())) return readDesired(requested);
  const read = readRequested(requested);
  if (!read.ok) return read;
  return {
    ok: true,
    deployments: read.deployments.map(({ smokeTests, conversations, onFailure, onUnproven, notes, ...whom }) => ({
      desired: { ...whom, source: 'github', secretsStrategy: 'merge', rebuild: 'never' },
      smokeTests,
      ...(conversations ? { conversations } : {}),
      onFailure,
      onUnproven,
      ...(notes ? { notes } : {}),
    })),
  };
}
