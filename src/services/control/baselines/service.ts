import * as z from 'zod';
import {
  baseline,
  baselineRequest,
  testHash,
  type BaselineRequest,
  type StoredBaseline,
} from '../../../contract/control/baseline.ts';
import type { WriteOptions } from '../../../contract/control/service.ts';
import type { Mask } from '../../../contract/masking/mask.ts';
import { tenantFinders } from '../revisions/service.ts';
import { agentMask } from '../service/agent-mask.ts';
import { createIdempotentWrite } from '../service/once.ts';
import { beingDeleted, foundOrThrow, parseId, refusedCall, valueOrThrow, type Call } from '../service/refuse.ts';
import type { ServiceDependencies } from '../service/settings.ts';
import { readBody, readShape } from '../validation/shape.ts';
import type { BaselineRecord } from './repository.ts';

const pathShape = z.object({ test_hash: testHash });

/** What smoke tests measured of a revision, for comparisons: additions of ours. */
export function baselineOperations(settings: ServiceDependencies) {
  const { store } = settings;
  const once = createIdempotentWrite(settings);
  const { ownRevision } = tenantFinders(settings);
  const callOf = (operation: string, method: string, [id, revisionId, hash]: readonly string[]): Call => ({
    operation,
    method,
    path: `/v2/deployments/${id}/revisions/${revisionId}/baselines/${hash}`,
  });
  /** The hash, where the ids before it are valid ones. */
  function hashOf(call: Call, [id, revisionId, hash]: readonly [string, string, string]): string {
    parseId(call, 'deployment_id', id);
    parseId(call, 'revision_id', revisionId);
    return valueOrThrow(call, readShape(pathShape, { test_hash: hash }, 'path')).test_hash;
  }

  return {
    /** PUT .../baselines/{hash}: no change of the deployment, so nothing for its audit log. */
    async keepBaseline(
      id: string,
      revisionId: string,
      hash: string,
      body: unknown,
      { idempotencyKey }: WriteOptions = {},
    ): Promise<StoredBaseline> {
      const call = callOf('keep baseline', 'PUT', [id, revisionId, hash]);
      const wanted = hashOf(call, [id, revisionId, hash]);
      const request = valueOrThrow(call, readBody(baselineRequest, body));
      return once(call, { idempotencyKey, body: request, shape: baseline }, async (within) => {
        const revision = await ownRevision(call, id, revisionId, within);
        const deployment = await within.deployment(revision.deployment_id);
        if (deployment?.deletion !== 'none') throw refusedCall(call, beingDeleted);
        const agent = await within.agentRecord({ deploymentId: deployment.id }, [revision.id]);
        const mask = agentMask(foundOrThrow(call, 'Deployment', id, agent), settings);
        const answers = request.answers.map((answer) => maskedAnswer(answer, mask));
        return toBaselineResponse(await within.putBaseline(revision, wanted, { answers }));
      });
    },

    /** GET .../baselines/{hash}: a 404 where nothing is kept. */
    async getBaseline(id: string, revisionId: string, hash: string): Promise<StoredBaseline> {
      const call = callOf('get baseline', 'GET', [id, revisionId, hash]);
      const wanted = hashOf(call, [id, revisionId, hash]);
      const revision = await ownRevision(call, id, revisionId);
      return toBaselineResponse(foundOrThrow(call, 'Baseline', wanted, await store.findBaseline(revision.id, wanted)));
    },
  };
}

type Answer = BaselineRequest['answers'][number];

/** A graph may be built with nodes and tools that are named by anything that it knows. */
function maskedAnswer(answer: Answer, mask: Mask): Answer {
  const masked = (names: readonly string[]): string[] => names.map((each) => mask(each));
  return { ...answer, nodes: masked(answer.nodes), ...(answer.tools ? { tools: masked(answer.tools) } : {}) };
}

const toBaselineResponse = ({ revision_id, test_hash, taken_at, answers }: BaselineRecord): StoredBaseline => ({
  revision_id,
  test_hash,
  taken_at: taken_at.toISOString(),
  answers,
});
