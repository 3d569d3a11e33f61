import { holdDecisionRequest, revision, type HoldDecision, type Revision } from '../../../contract/control/revision.ts';
import type { WriteOptions } from '../../../contract/control/service.ts';
import { toRevisionResponse } from '../deployments/response.ts';
import { Call, createIdempotentWrite } from '../service/call.ts';
import { tenantFinders } from '../service/tenant-finders.ts';
import type { ServiceDependencies } from '../service/settings.ts';
import { discardedMessage, judgeHoldDecision } from './hold-decision.ts';

/** Promotes and discards held revisions (an extension of the public API). */
export function holdOperations(settings: ServiceDependencies) {
  const { rollouts, baseUrl } = settings;
  const once = createIdempotentWrite(settings);
  const { revisionToChange } = tenantFinders(settings);

  async function decide(
    id: string,
    revisionId: string,
    { decision, verb }: { decision: HoldDecision; verb: 'promote' | 'discard' },
    body: unknown,
    { idempotencyKey }: WriteOptions,
  ): Promise<Revision> {
    const call = new Call(`${verb} revision`, 'POST', `/v2/deployments/${id}/revisions/${revisionId}/${verb}`);
    const [deploymentId, wanted] = [call.id('deployment_id', id), call.id('revision_id', revisionId)];
    const request = call.body(holdDecisionRequest, body ?? {});
    const response = await once(call, { idempotencyKey, body: request, shape: revision }, async (within, record) => {
      const { revision: found, subject, mask } = await revisionToChange(call, id, revisionId, within);
      const judged = judgeHoldDecision(found, decision);
      if (judged === 'repeated') return toRevisionResponse(found, baseUrl());
      if (judged !== 'record') throw call.refusal(judged.refused);
      // The caller may quote the agent's response.
      const why = request.why == null ? null : (await mask())(request.why);
      const details = { why, message: discardedMessage(why) };
      const changed = await within.decideHold(found.deployment_id, found.id, decision, details);
      if (!changed) throw call.refusal({ status: 409, detail: decidedMessage });
      await record(subject);
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
