import * as z from 'zod';
import {
  baseline,
  baselineRequest,
  testHash,
  type BaselineRequest,
  type StoredBaseline,
} from '../../../contract/control/baseline.ts';
import type { WriteOptions } from '../../../contract/control/service.ts';
import { maskCutText, type Mask } from '../../../contract/masking/mask.ts';
import {
  verdict,
  verdictReport,
  type StoredVerdict,
  type VerdictReport,
  type VerdictsList,
} from '../../../contract/control/verdict.ts';
import { tenantFinders } from '../service/tenant-finders.ts';
import { Call, createIdempotentWrite } from '../service/call.ts';
import type { ServiceDependencies } from '../service/settings.ts';
import { verdictReported } from '../store/audit.ts';
import { readShape } from '../validation/shape.ts';
import type { BaselineRecord, VerdictRecord } from './repository.ts';

const hashInPath = z.object({ test_hash: testHash });

/** What smoke tests found about a revision, and what they measured of it for comparisons: additions of ours. */
export function smokeTestOperations(settings: ServiceDependencies) {
  const { store } = settings;
  const once = createIdempotentWrite(settings);
  const { ownRevision, revisionToChange } = tenantFinders(settings);
  /** A call about a revision, with valid ids. */
  function callAbout(id: string, revisionId: string, operation: string, method: string, path: string): Call {
    const call = new Call(operation, method, `/v2/deployments/${id}/revisions/${revisionId}/${path}`);
    call.id('deployment_id', id);
    call.id('revision_id', revisionId);
    return call;
  }

  return {
    async reportVerdict(id: string, revisionId: string, body: unknown, { idempotencyKey }: WriteOptions = {}) {
      const call = callAbout(id, revisionId, verdictReported, 'POST', 'verdicts');
      const report = call.body(verdictReport, body);
      return once(call, { idempotencyKey, body: report, shape: verdict }, async (within, record) => {
        const { revision, subject, mask } = await revisionToChange(call, id, revisionId, within);
        const added = await within.addVerdict(revision, masked(report, await mask()));
        await record(subject);
        return toVerdictResponse(added);
      });
    },

    async listVerdicts(id: string, revisionId: string): Promise<VerdictsList> {
      const call = callAbout(id, revisionId, 'list verdicts', 'GET', 'verdicts');
      const revision = await ownRevision(call, id, revisionId);
      return { resources: (await store.verdictsOf(revision.id)).map(toVerdictResponse) };
    },

    /** PUT .../baselines/{hash}: no change of the deployment, so nothing for its audit log. */
    async keepBaseline(
      id: string,
      revisionId: string,
      hash: string,
      body: unknown,
      { idempotencyKey }: WriteOptions = {},
    ): Promise<StoredBaseline> {
      const call = callAbout(id, revisionId, 'keep baseline', 'PUT', `baselines/${hash}`);
      const wanted = hashOf(call, hash);
      const request = call.body(baselineRequest, body);
      return once(call, { idempotencyKey, body: request, shape: baseline }, async (within) => {
        const { revision, mask: maskFor } = await revisionToChange(call, id, revisionId, within);
        const mask = await maskFor();
        const answers = request.answers.map((answer) => maskedAnswer(answer, mask));
        return toBaselineResponse(await within.putBaseline(revision, wanted, { answers }));
      });
    },

    /** GET .../baselines/{hash}: a 404 where nothing is kept. */
    async getBaseline(id: string, revisionId: string, hash: string): Promise<StoredBaseline> {
      const call = callAbout(id, revisionId, 'get baseline', 'GET', `baselines/${hash}`);
      const wanted = hashOf(call, hash);
      const revision = await ownRevision(call, id, revisionId);
      return toBaselineResponse(call.found('Baseline', wanted, await store.findBaseline(revision.id, wanted)));
    },
  };
}

/** The hash of a test in a path. */
const hashOf = (call: Call, hash: string): string =>
  call.value(readShape(hashInPath, { test_hash: hash }, 'path')).test_hash;

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
export function toVerdictResponse(record: VerdictRecord): StoredVerdict {
  const { id, created_at, kind, reporter, details_url, tests } = record;
  return { id, created_at: created_at.toISOString(), kind, reporter, details_url, tests };
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
