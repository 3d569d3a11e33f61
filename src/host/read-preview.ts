import type { DesiredDeployment } from '../deploy/file/desired.ts';
import { readEntryOptions } from '../deploy/file/entry-options.ts';
import { readDesired, type RequestInput } from '../deploy/file/read-desired.ts';
import type { SmokeTest } from '../deploy/file/smoke-test.ts';
import { graderKeyProblems, severalProblem, type ReadRequest } from './read-request.ts';
import { workspaceCases } from './workspace.ts';

/** The deployment that a pull request gets a preview of. */
export interface PreviewSubject {
  mode: 'preview';
  /** Absent: the pull request is closed, and all of its previews are removed. */
  deployment?: DesiredDeployment;
  /** The tests of the preview. */
  smokeTests: readonly SmokeTest[];
}

/**
 * Reads inputs and deploy file for a preview. The environment is left out: the secrets of the deployment are none of a
 * preview's. A pull request that was closed needs no file, which may be as wrong as it likes.
 */
export function readPreview(given: RequestInput, { isClosed }: { isClosed: boolean }): ReadRequest<PreviewSubject> {
  const { env: _, ...requested } = given;
  const read = readEntryOptions(requested.inputs);
  if (read.ok && isClosed) return { ok: true, options: read.options, subject: { mode: 'preview', smokeTests: [] } };
  const deployments = readDesired({ cases: workspaceCases, ...requested });
  if (!read.ok || !deployments.ok) {
    return {
      ok: false,
      problems: [...(read.ok ? [] : read.problems), ...(deployments.ok ? [] : deployments.problems)],
    };
  }
  const [deployment, ...more] = deployments.deployments;
  if (!deployment || more.length > 0) {
    return { ok: false, problems: [severalProblem(deployments.deployments.map(({ desired }) => desired))] };
  }
  const smokeTests = deployment.preview?.smokeTests ?? deployment.smokeTests;
  const problems = graderKeyProblems(smokeTests, requested.inputs);
  if (problems.length > 0) return { ok: false, problems };
  return { ok: true, options: read.options, subject: { mode: 'preview', deployment, smokeTests } };
}
