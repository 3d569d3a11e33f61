import { inputProblem } from '../config/inputs.ts';
import type { Inputs } from '../config/entry-options.ts';
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
  const given = (name: string): string | undefined => inputs[name]?.trim() || undefined;
  const problems: Problem[] = [];
  const flag = (name: string, absent: boolean): boolean => {
    const written = given(name)?.toLowerCase() ?? String(absent);
    if (written !== 'true' && written !== 'false') problems.push(inputProblem(name, `${name} is true or false`));
    return written === 'true';
  };
  const token = given('github-token');
  const comment = flag('comment', true);
  const deployment = flag('github-deployment', false);
  const environment = given('environment');
  if (token === undefined && deployment) {
    problems.push(inputProblem('github-token', 'github-deployment needs github-token: give github.token'));
  }
  const isRequested = token !== undefined && (comment || deployment);
  return { reporting: isRequested ? { token, comment, deployment, environment } : undefined, problems };
}
