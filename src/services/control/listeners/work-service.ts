import { systemClock } from '../../../kit/clock.ts';
import type { CallOptions } from '../../../contract/call-options.ts';
import {
  leaseBounds,
  workRequest,
  type ClaimStanding,
  type WorkClaim,
  type WorkReport,
  workReport,
} from '../../../contract/control/listener-work.ts';
import { maskOf } from '../../../contract/masking/mask.ts';
import { agentMask } from '../service/agent-mask.ts';
import { workNotifier } from './work-notifier.ts';
import { readBody } from '../validation/shape.ts';
import type { ClaimReport } from './claims.ts';
import type { ListenerRecord, ListenerClaimRecord } from '../store/tables.ts';
import { Call } from '../service/call.ts';
import type { ServiceDependencies } from '../service/settings.ts';
import type { ClaimedWork } from './work-repository.ts';
import type { Tracing } from '../tracing-projects/tracing.ts';
import * as z from 'zod';
import { accepted, againstRules, type ValidationResult } from '../validation/refusal.ts';

/** The query of releasing a claim. */
export const releaseQuery = z.strictObject({ undone: z.boolean().optional() });

/** Parses a holder's report. A failure has a message, and the numbers of lines increase, so that each is stored once. */
function readReport(body: unknown): ValidationResult<WorkReport> {
  const read = readBody(workReport, body);
  if (!read.ok) return read;
  const { status, message, log } = read.value;
  if (status === 'DEPLOY_FAILED' && !message?.trim()) return againstRules(['message is required with DEPLOY_FAILED.']);
  const sequences = (log ?? []).map(({ sequence }) => sequence);
  const unordered = sequences.find((sequence, at) => at > 0 && sequence <= (sequences[at - 1] ?? 0));
  return unordered === undefined
    ? accepted(read.value)
    : againstRules([`log: the sequence ${unordered} does not grow.`]);
}

/** How long to wait for a notification before looking again (ms): there is none when a lease expires. */
const pollMs = 1_000;

/**
 * The work of listeners (an extension of the public API): each item has one holder at a time, by a claim that expires unless
 * it is renewed. A report under an expired claim gets a 409 and changes nothing.
 */
export function listenerWorkOperations({
  store,
  tenantId,
  rollouts,
  notifier = workNotifier(systemClock),
  tracing,
}: Pick<ServiceDependencies, 'store' | 'tenantId' | 'rollouts' | 'notifier' | 'tracing'>) {
  /** Finds the listener of a request about its work, and records the request as its last report. */
  async function ownListener(call: Call, id: string): Promise<ListenerRecord> {
    const listenerId = call.id('listener_id', id);
    const listener = call.found('Listener', id, await store.findListener(tenantId, listenerId));
    await store.noteListenerReport(listener);
    return listener;
  }

  const claimPath = (id: string, claimId: string): string => `/v2/listeners/${id}/claims/${claimId}`;

  return {
    /** POST .../claims: the next work within `wait_seconds`, or undefined. Releases the claim if the caller disconnects. */
    async claimWork(id: string, body: unknown, { signal }: CallOptions = {}): Promise<WorkClaim | undefined> {
      const call = new Call('claim work', 'POST', `/v2/listeners/${id}/claims`);
      const { holder, wait_seconds, lease_seconds } = call.body(workRequest, body);
      const listener = await ownListener(call, id);
      const claimer = { holder, leaseMs: (lease_seconds ?? leaseBounds.usual) * 1_000 };
      const until = notifier.now() + (wait_seconds ?? 0) * 1_000;
      for (;;) {
        const next = notifier.listen();
        const work = await store.claimWork(listener, claimer);
        if (work && signal?.aborted) await store.releaseClaim(listener.id, work.claim.id, { isUndone: true });
        else if (work) return toClaimResponse(work, tracing);
        const remainingMs = until - notifier.now();
        if (remainingMs <= 0 || notifier.isClosed || signal?.aborted) return undefined;
        await next.within(Math.min(remainingMs, pollMs), signal);
      }
    },

    async renewClaim(id: string, claimId: string): Promise<ClaimStanding> {
      const call = new Call('renew claim', 'POST', `${claimPath(id, claimId)}/renewal`);
      const claim = call.id('claim_id', claimId);
      const listener = await ownListener(call, id);
      const standing = await store.renewClaim(listener.id, claim);
      if (standing.kind === 'over') throw call.refusal({ status: 409, detail: standing.reason });
      return toStanding(standing.claim, standing.wanted);
    },

    /** PUT .../claims/{claim}/status: lines of the log first, each number once, then the status. */
    async reportWork(id: string, claimId: string, body: unknown): Promise<ClaimStanding> {
      const call = new Call('report work', 'PUT', `${claimPath(id, claimId)}/status`);
      const claim = call.id('claim_id', claimId);
      const report = call.value(readReport(body));
      const listener = await ownListener(call, id);
      const end = await store.reportWork(listener.id, claim, await sanitize(listener.id, claim, report));
      if (end.kind !== 'held') throw call.refusal({ status: 409, detail: end.reason });
      const { deployment_id, ended_as } = end.claim;
      if (ended_as === 'REMOVED') await store.noteStopped(deployment_id);
      if (ended_as !== null) rollouts.wake(deployment_id);
      return toStanding(end.claim, end.wanted);
    },

    /**
     * DELETE .../claims/{claim}: releases the work for the next holder at once. `undone` means that nothing of it is left
     * in the cluster; otherwise the next holder restores the live revision where this one is no longer wanted.
     */
    async releaseClaim(id: string, claimId: string, query: unknown = {}): Promise<void> {
      const call = new Call('release claim', 'DELETE', claimPath(id, claimId));
      const claim = call.id('claim_id', claimId);
      const { undone = false } = call.query(releaseQuery, query);
      const listener = await ownListener(call, id);
      const standing = await store.releaseClaim(listener.id, claim, { isUndone: undone });
      if (standing.kind === 'over') throw call.refusal({ status: 409, detail: standing.reason });
      notifier.notify();
    },
  };

  /** Masks the agent's secrets in a report. */
  async function sanitize(listenerId: string, claimId: string, report: WorkReport): Promise<ClaimReport> {
    const ids = await store.idsOfClaim(listenerId, claimId);
    const agent =
      ids &&
      (await store.agentRecord({ deploymentId: ids.deployment_id }, ids.revision_id === null ? [] : [ids.revision_id]));
    const mask = agent ? agentMask(agent, { tracing }) : maskOf([]);
    return {
      status: report.status,
      message: report.message == null ? null : mask(report.message),
      imageVersion: report.image_version ?? null,
      lines: (report.log ?? []).map(({ sequence, level, message, at }) => ({
        sequence,
        level,
        message: mask(message),
        ...(at == null ? {} : { at: Date.parse(at) }),
      })),
    };
  }
}

function toClaimResponse({ claim, deployment, revision }: ClaimedWork, tracing: Tracing | undefined): WorkClaim {
  const project = deployment.tracing_project_id;
  return {
    claim_id: claim.id,
    expires_at: claim.expires_at.toISOString(),
    lease_seconds: claim.lease_ms / 1_000,
    deployment: { id: deployment.id, name: deployment.name, namespace: claim.namespace },
    revision: revision
      ? {
          id: revision.id,
          image_uri: revision.source_revision_config.image_uri ?? '',
          secrets: revision.secrets,
          secret_references: revision.secret_references ?? [],
          resource_spec: revision.source_config.resource_spec ?? null,
          deployment_type: revision.source_config.deployment_type ?? null,
          tracing: tracing && project !== null ? { project_id: project, token: tracing.tokenOf(project) } : null,
        }
      : null,
  };
}

/** The claim's expiry and whether the work is still wanted, for its holder. */
const toStanding = (claim: ListenerClaimRecord, wanted: boolean): ClaimStanding => ({
  claim_id: claim.id,
  expires_at: claim.expires_at.toISOString(),
  wanted,
});
