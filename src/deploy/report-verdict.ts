import { randomUUID } from 'node:crypto';
import { toVerdictReport } from '../planning/verdict-report.ts';
import type { Verdict } from '../planning/verdict-types.ts';
import type { DeployRun } from './deploy-run.ts';

/** How long the service may take to say whether it takes verdicts, and to take one (ms). */
const reportMs = 15_000;

/**
 * Reports the verdict on a revision to a service that takes verdicts. A failure is a note: the outcome is the same
 * whether the service knows the verdict or not.
 */
export async function reportVerdict(
  verdict: Verdict,
  revisionId: string | null | undefined,
  run: DeployRun,
): Promise<void> {
  const { control, workflow, clock, signal } = run.request;
  const report = toVerdictReport(verdict, {
    reporter: workflow ? 'action' : 'cli',
    detailsUrl: workflow?.runUrl,
    redact: (text) => run.redact(text),
  });
  const deploymentId = run.known.deployment?.id;
  if (!report || !deploymentId || !revisionId) return;
  const options = { signal, deadline: clock.now() + reportMs };
  try {
    const { verdicts } = await control.features(options);
    if (!verdicts) return;
    await control.reportVerdict(deploymentId, revisionId, report, { ...options, idempotencyKey: randomUUID() });
  } catch (error) {
    if (signal?.aborted) return;
    const why = error instanceof Error ? error.message : 'it failed';
    run.note(`the verdict of the smoke tests could not be reported to the service: ${why}`);
  }
}
