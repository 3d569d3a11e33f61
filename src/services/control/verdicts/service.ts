import type { WriteOptions } from '../../../contract/control/service.ts';
import { maskCutText, type Mask } from '../../../contract/masking/mask.ts';
import {
  verdict,
  verdictReport,
  type StoredVerdict,
  type VerdictReport,
  type VerdictsList,
} from '../../../contract/control/verdict.ts';
import { agentMask } from '../service/agent-mask.ts';
import { tenantFinders } from '../revisions/service.ts';
import { createIdempotentWrite } from '../service/once.ts';
import { beingDeleted, foundOrThrow, parseId, refusedCall, valueOrThrow } from '../service/refuse.ts';
import type { ServiceDependencies } from '../service/settings.ts';
import { verdictReported } from '../store/audit.ts';
import { readBody } from '../validation/shape.ts';
import type { VerdictRecord } from './repository.ts';

/** What smoke tests found about a revision: additions of ours. */
export function verdictOperations(settings: ServiceDependencies) {
  const once = createIdempotentWrite(settings);
  const { ownRevision } = tenantFinders(settings);
  const pathOf = (id: string, revisionId: string) => `/v2/deployments/${id}/revisions/${revisionId}/verdicts`;

  return {
    async reportVerdict(id: string, revisionId: string, body: unknown, { idempotencyKey }: WriteOptions = {}) {
      const call = { operation: verdictReported, method: 'POST', path: pathOf(id, revisionId) };
      parseId(call, 'deployment_id', id);
      parseId(call, 'revision_id', revisionId);
      const report = valueOrThrow(call, readBody(verdictReport, body));
      return once(call, { idempotencyKey, body: report, shape: verdict }, async (within, record) => {
        const revision = await ownRevision(call, id, revisionId, within);
        const { deployment_id } = revision;
        const deployment = await within.deployment(deployment_id);
        if (deployment?.deletion !== 'none') throw refusedCall(call, beingDeleted);
        // The tester may not know all secrets: the deployment may have new ones.
        const agent = foundOrThrow(
          call,
          'Deployment',
          id,
          await within.agentRecord({ deploymentId: deployment_id }, [revision.id]),
        );
        const added = await within.addVerdict(revision, masked(report, agentMask(agent, settings)));
        await record({ deployment_id, deployment_name: deployment.name, revision_id: revision.id });
        return toVerdictResponse(added);
      });
    },

    async listVerdicts(id: string, revisionId: string): Promise<VerdictsList> {
      const call = { operation: 'list verdicts', method: 'GET', path: pathOf(id, revisionId) };
      const revision = await ownRevision(call, id, revisionId);
      return { resources: (await settings.store.verdictsOf(revision.id)).map(toVerdictResponse) };
    },
  };
}

function masked(report: VerdictReport, mask: Mask): VerdictReport {
  const text = (quoted: string): string => maskCutText(mask, quoted);
  return {
    ...report,
    details_url: report.details_url == null ? report.details_url : mask(report.details_url),
    tests: report.tests.map((test) => ({
      ...test,
      name: text(test.name),
      why: test.why === null ? null : text(test.why),
      expectations: test.expectations.map((each) => ({
        ...each,
        expected: text(each.expected),
        seen: text(each.seen),
      })),
    })),
  };
}

/** Serializes a verdict. */
export const toVerdictResponse = ({
  id,
  created_at,
  kind,
  reporter,
  details_url,
  tests,
}: VerdictRecord): StoredVerdict => ({
  id,
  created_at: created_at.toISOString(),
  kind,
  reporter,
  details_url,
  tests,
});
