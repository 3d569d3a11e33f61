import type { Outcome } from '../deploy/outcome-types.ts';
import { rolledBackTo, smokeTimes, toResultJson } from '../report/result-json.ts';

/** The Action's outputs by name (action.yml); what is not known is the empty string. */
export function outputsOf(outcome: Outcome): Record<string, string> {
  const { firstEventMs, totalMs } = smokeTimes(outcome);
  return {
    'deployment-id': outcome.deploymentId ?? '',
    'revision-id': outcome.revisionId ?? '',
    'active-revision-id': outcome.activeRevisionId ?? '',
    'deployment-url': outcome.deploymentUrl ?? '',
    outcome: outcome.kind,
    reason: outcome.reason,
    plan: outcome.plan?.kind ?? '',
    changed: String(outcome.changed),
    'smoke-verdict': outcome.verdict?.kind ?? 'none',
    'first-event-ms': firstEventMs === undefined ? '' : String(firstEventMs),
    'total-ms': totalMs === undefined ? '' : String(totalMs),
    'rolled-back-to': rolledBackTo(outcome) ?? '',
    result: JSON.stringify(toResultJson(outcome)),
  };
}
