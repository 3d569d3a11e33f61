import { agentAddress } from '../contract/control/deployment.ts';
import { withoutRequest } from '../planning/reported-plan.ts';
import { describeEnding, type Ending } from './describe-ending.ts';
import type { Outcome, OutcomeKind } from './outcome-types.ts';
import type { DeployRequest, Known } from './deploy-run.ts';

const passing = new Set<OutcomeKind>(['deployed', 'unchanged', 'planned', 'started', 'deleted', 'neutral']);

/** The outcome of a deploy run, from its ending and what is known. `redact` removes secrets from untrusted text. */
export function conclude(
  request: DeployRequest,
  known: Known,
  ending: Ending,
  redact: (text: string) => string = (text) => text,
): Outcome {
  const { kind, reason, advice } = describeEnding(request, known, ending);
  const { deployment, plan, rollout, verdict, rollback, logs } = known;
  const wentBack = request.mode === 'rollback' && rollback && 'rollout' in rollback ? rollback.rollout : undefined;
  const revisionId = wentBack?.revisionId ?? known.revisionId;
  const name = deployment?.name ?? request.desired.name;
  const id = deployment?.id ?? request.desired.deploymentId;
  // Of what is gone nothing serves any longer.
  const serving = kind === 'deleted' ? undefined : deployment;
  const url = kind === 'deleted' ? undefined : (request.agentUrl ?? (deployment && agentAddress(deployment)));
  return {
    kind,
    reason: redact(reason),
    ...(advice ? { advice: redact(advice) } : {}),
    passes: passes(kind, request),
    ...(name ? { deploymentName: name } : {}),
    ...(id ? { deploymentId: id } : {}),
    ...(revisionId ? { revisionId } : {}),
    ...(serving?.active_revision_id ? { activeRevisionId: serving.active_revision_id } : {}),
    ...(url ? { deploymentUrl: url } : {}),
    ...(plan ? { plan: withoutRequest(plan) } : {}),
    changed: known.changed,
    ...(rollout ? { rollout } : {}),
    ...(verdict ? { verdict } : {}),
    ...(rollback ? { rollback } : {}),
    ...(logs ? { logs } : {}),
    notes: [...known.notes],
  };
}

/** A rollback passes only if it was requested: after a failed deploy it is a recovery, not a success. */
function passes(kind: OutcomeKind, { mode, onSuperseded }: DeployRequest): boolean {
  if (kind === 'rolled-back') return mode === 'rollback';
  if (kind === 'superseded') return onSuperseded === 'pass';
  return passing.has(kind);
}
