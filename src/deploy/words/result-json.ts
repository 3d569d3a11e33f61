import { isRollbackCarriedOut } from './revision-ending.ts';
import { rateFields, toReportedComparison } from '../rules/verdict-report.ts';
import type { Comparison } from '../rules/verdict-types.ts';
import type { Outcome } from '../machine/outcome-types.ts';

/** The times of the first smoke test that was answered. */
export function smokeTimes(outcome: Outcome): { firstEventMs?: number; totalMs?: number } {
  const answered = outcome.verdict?.tests.map(({ verdict }) => verdict).find(({ kind }) => kind !== 'unproven');
  if (!answered || answered.kind === 'unproven') return {};
  return {
    ...(answered.firstEventMs === undefined ? {} : { firstEventMs: Math.round(answered.firstEventMs) }),
    totalMs: Math.round(answered.totalMs),
  };
}

/** The revision that serves again after a rollback, or undefined where none was carried out. */
export const rolledBackTo = ({ rollback }: Outcome): string | undefined =>
  rollback && isRollbackCarriedOut(rollback) && rollback.kind !== 'impossible' ? rollback.toRevisionId : undefined;

/** What a test against the live revision compared, without the time of each answer. */
function comparisonFields(comparison: Comparison) {
  const { times_ms: _, ...fields } = toReportedComparison(comparison, 0);
  return fields;
}

/** The outcome as JSON for machines: names as the Action's outputs have them, and never a secret or an agent's values. */
export function toResultJson(outcome: Outcome) {
  const { plan, rollout, verdict } = outcome;
  const times = smokeTimes(outcome);
  return {
    outcome: outcome.kind,
    passes: outcome.passes,
    reason: outcome.reason,
    advice: outcome.advice ?? null,
    name: outcome.deploymentName ?? null,
    deployment_id: outcome.deploymentId ?? null,
    revision_id: outcome.revisionId ?? null,
    active_revision_id: outcome.activeRevisionId ?? null,
    deployment_url: outcome.deploymentUrl ?? null,
    changed: outcome.changed,
    plan: plan?.kind ?? null,
    changes: (plan && 'changes' in plan ? plan.changes : []).map(({ makesRevision, ...change }) => ({
      ...change,
      makes_revision: makesRevision,
    })),
    obstacles: plan?.kind === 'impossible' ? plan.obstacles : [],
    statuses: (rollout?.seen ?? []).map(({ status, at }) => ({ status, at: new Date(at).toISOString() })),
    built_commit: rollout?.builtCommit ?? null,
    smoke_verdict: verdict?.kind ?? 'none',
    verified: outcome.verified ?? null,
    smoke_tests: (verdict?.tests ?? []).map(({ name, attempts, verdict: each }) => ({
      name,
      attempts,
      verdict: each.kind,
      ...rateFields(each.rate),
      ...(each.comparison ? { comparison: comparisonFields(each.comparison) } : {}),
      ...(each.kind === 'unproven'
        ? { why: each.why }
        : {
            expectations: each.held.map(({ expected, held, seen, advises }) => ({
              expected,
              held,
              seen,
              ...(advises ? { advises } : {}),
            })),
          }),
    })),
    first_event_ms: times.firstEventMs ?? null,
    total_ms: times.totalMs ?? null,
    rolled_back_to: rolledBackTo(outcome) ?? null,
    ...(outcome.command ? { command: outcome.command } : {}),
    notes: outcome.notes,
  };
}
