import type { SmokeTest } from '../deploy/file/smoke-test.ts';
import type { DesiredDeployment } from '../deploy/file/desired.ts';
import { type EntryOptions, type Mode, readEntryOptions } from '../deploy/file/entry-options.ts';
import type { Inputs } from '../deploy/file/input-table.ts';
import { inputProblem } from '../deploy/file/inputs.ts';
import type { RequestedDeployment } from '../deploy/file/read-draft.ts';
import { readRequested, readDesired, type RequestInput, type ReadDeployments } from '../deploy/file/read-desired.ts';
import type { Problem } from '../kit/diagnostics/problem.ts';
import type { Named } from '../deploy/file/desired.ts';
import type { SubjectOfRun } from './run-deployment.ts';
import { workspaceCases } from './workspace.ts';

/** The whole request, or every problem with it. */
export type ReadRequest<Subject = SubjectOfRun> =
  { ok: true; options: EntryOptions; subject: Subject } | { ok: false; problems: Problem[] };

/** Reads inputs, deploy file, files of cases and environment into one deployment and how to go about it; every problem at once. */
export function readRequest(requested: RequestInput, { isPullRequest = false } = {}): ReadRequest {
  const options = readEntryOptions(requested.inputs);
  const deployments = readDeployments({ cases: workspaceCases, ...requested }, isPullRequest);
  if (!options.ok || !deployments.ok) {
    return {
      ok: false,
      problems: [...(options.ok ? [] : options.problems), ...(deployments.ok ? [] : deployments.problems)],
    };
  }
  const [deployment, ...more] = deployments.deployments;
  if (deployment && more.length === 0) {
    const problems = graderKeyProblems(deployment.smokeTests, requested.inputs);
    return problems.length > 0
      ? { ok: false, problems }
      : { ok: true, options: options.options, subject: subjectOf(options.options.mode, deployment) };
  }
  return { ok: false, problems: [severalProblem(deployments.deployments.map(named))] };
}

/** The problem of a file with several deployments of which none was chosen. */
export function severalProblem(deployments: readonly Named[]): Problem {
  const names = deployments.map(({ name, deploymentId }) => name ?? deploymentId).join(', ');
  const message = `the deploy file has more than one deployment: choose one with \`deployment\`, of ${names}`;
  return inputProblem('deployment', message);
}

/** Modes that deploy nothing, and need neither a source nor secrets. */
const modesWithoutSource = ['smoke', 'rollback', 'delete'] as const satisfies Mode[];

/** A deletion of what the inputs name alone: an entry of the file says nothing about it. */
export const deletesByInputs = (inputs: Inputs): boolean =>
  inputs['mode']?.trim() === 'delete' && Boolean(inputs['name']?.trim() || inputs['deployment-id']?.trim());

/** What was read: only a deploy knows whether it is a dry run. */
type Read = DesiredDeployment | (RequestedDeployment & { mode: (typeof modesWithoutSource)[number] });

const named = (read: Read): Named => ('desired' in read ? read.desired : read);

function subjectOf(mode: Mode, read: Read): SubjectOfRun {
  if ('desired' in read) return { ...read, mode: mode === 'plan' ? 'plan' : 'deploy' };
  const { name, deploymentId, ...run } = read;
  return { ...run, named: { name, deploymentId } };
}

function readDeployments(requested: RequestInput, isPullRequest: boolean): ReadDeployments<Read> {
  const { inputs } = requested;
  const mode = modesWithoutSource.find((each) => each === inputs['mode']?.trim());
  if (mode === undefined) return readDesired(requested);
  if (mode === 'delete' && isPullRequest && !deletesByInputs(inputs) && !inputs['deployment']?.trim()) {
    return { ok: false, problems: [inputProblem('name', unnamedDeletion)] };
  }
  const read = readRequested(
    deletesByInputs(inputs)
      ? { inputs: { name: inputs['name'], 'deployment-id': inputs['deployment-id'] } }
      : requested,
  );
  return read.ok ? { ok: true, deployments: read.deployments.map((each) => ({ ...each, mode })) } : read;
}

const unnamedDeletion =
  'mode delete on a pull request takes no entry of the deploy file, which may be production: give `name` or `deployment-id`, for example `name: support-pr-${{ github.event.number }}`';

/** Names that say what they hold. Keys of control services end so as well, and are refused where the file is read. */
const usualName = /_API_KEY$/i;

/**
 * The keys that graders may not have. Who may change the file may choose where a grader sends its key, so a variable
 * of the environment is one only by its name, or because the person who runs this lists it.
 */
export function graderKeyProblems(tests: readonly SmokeTest[], inputs: Inputs): Problem[] {
  const listed = new Set((inputs['grader-keys'] ?? '').split(/[\s,]+/).filter(Boolean));
  const isRefused = (key: string): boolean => !usualName.test(key) && !listed.has(key);
  return tests
    .filter(({ expect }) =>
      expect.some((each) => each.kind === 'graded' && each.grader.key !== undefined && isRefused(each.grader.key)),
    )
    .map(({ name }) => inputProblem('grader-keys', `smoke test \`${name}\`: ${refusedKey}`));
}

/** Without the name: a user may have written the key itself in its place. */
const refusedKey =
  'the `key` of its grader is not taken, because its name does not end in _API_KEY: rename the variable, or list it in `grader-keys`';
