import { reportVerdict as report } from '../../src/deploy/report-verdict.ts';
import type { Verdict } from '../../src/planning/verdict-types.ts';
import type { Intent } from '../reconcile/intent.ts';
import type { ReconcileContext } from '../reconcile/reconcile-context.ts';

/**
 * Reports the verdict on an intent's revision to a service that takes verdicts: once, however often the conclusion is
 * repeated, because the intent's id is the key. A failure is a warning in the log, and changes nothing else.
 */
export async function reportVerdict(
  { context, signal }: ReconcileContext,
  { id, deploymentId, revisionId }: Intent,
  verdict: Verdict,
): Promise<void> {
  if (revisionId === undefined) return;
  const { control, clock, log } = context;
  await report(verdict, {
    deploymentId,
    revisionId,
    idempotencyKey: `verdict-${id}`,
    reporter: 'app',
    // The judge has removed the secrets.
    redact: (text) => text,
    missed: (why) =>
      log.warn({ intent: id, deployment: deploymentId }, `The verdict could not be reported to the service: ${why}`),
    control,
    clock,
    signal,
  });
}
