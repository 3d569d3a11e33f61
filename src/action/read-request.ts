import type { DesiredDeployment } from '../config/desired.ts';
import type { EntryOptions, Mode } from '../config/entry-options.ts';
import type { Inputs } from '../config/input-table.ts';
import { readEntryOptions } from '../config/entry-options.ts';
import { readRequested, readDesired, type RequestInput, type ReadDeployments } from '../config/read-desired.ts';
import type { Problem } from '../diagnostics/problem.ts';

/** The whole request, or every problem with it. */
export type Ask =
  { ok: true; options: EntryOptions; deployment: DesiredDeployment } | { ok: false; problems: Problem[] };

/** Reads inputs, deploy file and environment into one deployment and how to go about it; every problem at once. */
export function readAsk(requested: RequestInput): Ask {
  const options = readEntryOptions(requested.inputs);
  const deployments = readDeployments(modeOf(requested.inputs), requested);
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
  return { ok: false, problems: [{ file: 'input', line: 1, column: 1, field: 'deployment', message }] };
}

const modeOf = (inputs: Inputs): Mode | undefined => {
  const mode = inputs['mode']?.trim();
  return mode === 'smoke' || mode === 'rollback' || mode === 'delete' ? mode : undefined;
};

/** To ask, to roll back or to delete, nothing has to be said about where the deployment comes from, and no secret has to be there. */
function readDeployments(mode: Mode | undefined, requested: RequestInput): ReadDeployments<DesiredDeployment> {
  if (mode === undefined) return readDesired(requested);
  const read = readRequested(requested);
  if (!read.ok) return read;
  return {
    ok: true,
    deployments: read.deployments.map(({ smokeTests, onFailure, ...whom }) => ({
      desired: { ...whom, source: 'github', secretsStrategy: 'merge', rebuild: 'never' },
      smokeTests,
      onFailure,
    })),
  };
}
