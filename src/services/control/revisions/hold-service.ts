import { holdDecisionRequest, type HoldDecision, revision, type Revision } from '../../../contract/control/revision.ts';
import type { WriteOptions } from '../../../contract/control/service.ts';
import { toRevisionResponse } from '../deployments/response.ts';
import { agentMask } from '../service/agent-mask.ts';
import { createIdempotentWrite } from '../service/once.ts';
import { beingDeleted, foundOrThrow, parseId, refusedCall, valueOrThrow } from '../service/refuse.ts';
import type { ServiceDependencies } from '../service/settings.ts';
import { readBody } from '../validation/shape.ts';
import { discardedMessage, judgeHoldDecision } from './hold-decision.ts';
import { tenantFinders } from './service.ts';

/** Promotes and discards held revisions (an extension of the public API). */
export function holdOperations(settings: ServiceDependencies) {
  const { rollouts, baseUrl } = settings;
  const once = createIdempotentWrite(settings);
  const { ownRevision } = tenantFinders(settings);

  async function decide(
    id: string,
    revisionId: string,
    { decision, verb }: { decision: HoldDecision; verb: 'promote' | 'discard' },
    body: unknown,
    { idempotencyKey }: WriteOptions,
  ): Promise<Revision> {
    const path = `/v2/deployments/${id}/revisions/${revisionId}/${verb}`;
    const call = { operation: `${verb} revision`, method: 'POST', path };
    const [deploymentId, wanted] = [parseId(call, 'deployment_id', id), parseId(call, 'revision_id', revisionId)];
    const request = valueOrThrow(call, readBody(holdDecisionRequest, body ?? {}));
    const response = await once(call, { idempotencyKey, body: request, shape: revision }, async (within, record) => {
      const found = await ownRevision(call, id, revisionId, within);
      const deployment = await within.deployment(found.deployment_id);
      if (deployment?.deletion !== 'none') throw refusedCall(call, beingDeleted);
      const judged = judgeHoldDecision(found, decision);
      if (judged === 'repeated') return toRevisionResponse(found, baseUrl());
      if (judged !== 'record') throw refusedCall(call, judged.refused);
      // The caller may quote the agent's response.
      const agent = await within.agentRecord({ deploymentId: found.deployment_id }, [found.id]);
      const mask = agentMask(foundOrThrow(call, 'Deployment', id, agent), settings);
      const why = request.why == null ? null : mask(request.why);
      const changed = await within.decideHold(found.deployment_id, found.id, decision, {
        why,
        message: discardedMessage(why),
      });
      if (!changed) throw refusedCall(call, { status: 409, detail: decidedMessage });
      await record({ deployment_id: found.deployment_id, deployment_name: deployment.name, revision_id: found.id });
      return toRevisionResponse(changed, baseUrl());
    });
    if (decision === 'discarded') rollouts.interrupted(deploymentId, wanted);
    rollouts.wake(deploymentId);
    return response;
  }

  return {
    /** POST .../promote: switches the traffic to a held revision. */
    promoteRevision: (id: string, revisionId: string, body?: unknown, options: WriteOptions = {}): Promise<Revision> =>
      decide(id, revisionId, { decision: 'promoted', verb: 'promote' }, body, options),
    /** POST .../discard: ends a held revision as INTERRUPTED; the live one keeps serving. */
    discardRevision: (id: string, revisionId: string, body?: unknown, options: WriteOptions = {}): Promise<Revision> =>
      decide(id, revisionId, { decision: 'discarded', verb: 'discard' }, body, options),
  };
}

const decidedMessage = 'The revision was decided or ended at this moment. Read it again.';
