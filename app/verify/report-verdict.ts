import { toVerdictReport } from '../../src/planning/verdict-report.ts';
import type { Verdict } from '../../src/planning/verdict-types.ts';
import { messageOf } from '../../src/errors.ts';
import type { Intent } from '../reconcile/intent.ts';
import type { ReconcileContext } from '../reconcile/reconcile-context.ts';

/** How long the service may take to say whether it takes verdicts, and to take one (ms). */
const reportMs = 15_000;

/**
 * Reports the verdict on an intent's revision to a service that takes verdicts: once, however often the conclusion is
 * repeated, because the intent's id is the key. A failure is a warning in the log, and changes nothing else.
 */
export async function reportVerdict(
  { context, signal }: ReconcileContext,
  { id, deploymentId, revisionId }: Intent,
  verdict: Verdict,
): Promise<void> {
  // The judge has removed the secrets.
  const report = toVerdictReport(verdict, { reporter: 'app', redact: (text) => text });
  if (!report || revisionId === undefined) return;
  const { control, clock, log } = context;
  const options = { signal, deadline: clock.now() + reportMs };
  try {
    const { verdicts } = await control.features(options);
    if (!verdicts) return;
    await control.reportVerdict(deploymentId, revisionId, report, { ...options, idempotencyKey: `verdict-${id}` });
  } catch (error) {
    // The conclusion is repeated by the process that takes over.
    signal.throwIfAborted();
    const why = messageOf(error);
    log.warn({ intent: id, deployment: deploymentId }, `The verdict could not be reported to the service: ${why}`);
  }
}
