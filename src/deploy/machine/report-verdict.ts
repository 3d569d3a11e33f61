import type { Clock } from '../../kit/clock.ts';
import type { ControlService } from '../../contract/control/service.ts';
import type { VerdictReport } from '../../contract/control/verdict.ts';
import { toVerdictReport } from '../rules/verdict-report.ts';
import type { Verdict } from '../rules/verdict-types.ts';

/** How long the service may take to say whether it takes verdicts, and to take one (ms). */
const reportMs = 15_000;

interface VerdictReporting {
  deploymentId: string;
  revisionId: string;
  /** A verdict with the same key is reported once. */
  idempotencyKey: string;
  reporter: VerdictReport['reporter'];
  /** The page of the run. */
  detailsUrl?: string | undefined;
  /** Removes secrets from the texts. */
  redact: (text: string) => string;
  /** Called if the verdict could not be reported, unless the signal aborted. */
  missed: (error: unknown) => void;
  control: Pick<ControlService, 'features' | 'reportVerdict'>;
  clock: Clock;
  signal?: AbortSignal | undefined;
  /** A shorter limit (ms). */
  withinMs?: number | undefined;
}

/**
 * Reports the verdict on a revision to a service that takes verdicts. Never rejects: a verdict that is missing there
 * changes nothing else.
 */
export async function reportVerdict(
  verdict: Verdict,
  { control, clock, signal, withinMs = reportMs, missed, ...about }: VerdictReporting,
): Promise<void> {
  const { deploymentId, revisionId, idempotencyKey } = about;
  const options = { signal, deadline: clock.now() + Math.min(reportMs, withinMs) };
  try {
    if (verdict.kind === 'none') return;
    const { verdicts, baselines } = await control.features(options);
    // Services of before kept neither, and refuse fields that they do not know.
    const report = toVerdictReport(verdict, { ...about, comparisons: baselines === true });
    if (!report || !verdicts) return;
    await control.reportVerdict(deploymentId, revisionId, report, { ...options, idempotencyKey });
  } catch (error) {
    if (!signal?.aborted) missed(error);
  }
}
