import { join } from 'node:path';
import type { Environment } from '../deploy/file/secret-names.ts';
import type { ReceiptTarget } from '../host/write-receipt.ts';
import type { RunEvent } from './run-event.ts';
import { predicatePathOf } from '../host/written-files.ts';

/** The files of a step's receipt. */
export type ReceiptFiles = Required<Pick<ReceiptTarget, 'path' | 'predicatePath'>>;

/**
 * Where the receipt of a step is written: where its input says, else below the runner's folder for temporary files,
 * under a name that no other step of the job has. Outside of a runner there is none.
 */
export function receiptFiles(path: string | undefined, env: Environment): ReceiptFiles | undefined {
  const { RUNNER_TEMP: folder, GITHUB_ACTION: step = '' } = env;
  const name = `landfall-receipt-${step.replaceAll(/[^\w.-]/g, '-')}`;
  const file = path ?? (folder ? join(folder, `${name}.json`) : undefined);
  if (file === undefined) return undefined;
  return { path: file, predicatePath: predicatePathOf(file) };
}

/** The workflow run, as a receipt names it. */
export function receiptWorkflow(
  { repository, eventName, actor, sha, runId, runAttempt, serverUrl }: RunEvent,
  env: Environment,
): ReceiptTarget['workflow'] {
  if (repository === '') return undefined;
  return {
    repository,
    workflow: env['GITHUB_WORKFLOW_REF'] ?? null,
    event: eventName,
    actor,
    commit: sha,
    run_id: runId,
    run_attempt: runAttempt,
    run_url: `${serverUrl}/${repository}/actions/runs/${runId}`,
  };
}
