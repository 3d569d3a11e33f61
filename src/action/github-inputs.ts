import type { Inputs } from '../config/input-table.ts';
import { OptionReader } from '../config/option-reader.ts';
import type { Problem } from '../diagnostics/problem.ts';

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
