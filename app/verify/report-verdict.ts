import { reportVerdict as report } from '../../src/deploy/machine/report-verdict.ts';
import { messageOf } from '../../src/kit/errors.ts';
import type { Concluding } from '../reconcile/intent.ts';
import type { ReconcileContext } from '../reconcile/reconcile-context.ts';

/**
 * Reports the verdict on an intent's revision to a service that takes verdicts: once, however often the conclusion is
 * repeated, because the intent's id is the key. A failure is a warning in the log, is returned, and changes nothing
 * else. Throws if the signal aborts: the next pass repeats the step.
 */
export async function reportVerdict(
  { context, signal }: ReconcileContext,
  { id, deploymentId, revisionId, verdict }: Pick<Concluding, 'id' | 'deploymentId' | 'revisionId' | 'verdict'>,
): Promise<unknown> {
  const { control, clock, log } = context;
  let failure: unknown;
  await report(verdict, {
    deploymentId,
    revisionId,
    idempotencyKey: `verdict-${id}-${revisionId}`,
    reporter: 'app',
    // The judge has removed the secrets.
    redact: (text) => text,
    missed: (error) => {
      failure = error;
      const what = `The verdict could not be reported to the service: ${messageOf(error)}`;
      log.warn({ intent: id, deployment: deploymentId }, what);
    },
    control,
    clock,
    signal,
  });
  signal.throwIfAborted();
  return failure;
}
