import { messageOf } from '../../kit/errors.ts';
import { pause, untilAborted, type Clock } from '../../kit/clock.ts';
import type { ClaimedRevision, WorkClaim, WorkReport } from '../../contract/control/listener-work.ts';
import { deploymentTypes } from '../../contract/control/source.ts';
import { resourceSpec } from '../../contract/control/resource-spec.ts';
import { ServiceError } from '../../contract/service-error.ts';
import type { AgentSpec, AgentStart, Compute } from '../control/compute/compute.ts';
import type { WriteLine } from '../control/compute/log-line.ts';
import { retryDelayMs, type WorkClient } from './work-client.ts';
import { keepLease, type Lease } from './lease.ts';
import { createReporter, type Reporter } from './reporter.ts';
import type { Logger } from '../../kit/logger.ts';

export interface ClaimDependencies {
  work: WorkClient;
  listenerId: string;
  compute: Compute;
  /** Returns where agents in the cluster export traces; absent if they can't reach the service. */
  tracingAt?: ((project: { project_id: string; token: string }) => AgentSpec['tracing']) | undefined;
  clock: Clock;
  random: () => number;
  log: Logger;
  /** Aborts when the listener shuts down: the claim is released as it is. */
  stopping: AbortSignal;
}

const releaseWithinMs = 5_000;

/** Carries out one claim. After losing the claim it changes nothing more; when the work is not needed, it releases it. */
export async function performClaim(claim: WorkClaim, settings: ClaimDependencies): Promise<void> {
  const { work, listenerId, clock, random, log, stopping } = settings;
  const { claim_id: claimId, deployment, revision } = claim;
  const workText = revision ? `revision ${revision.id} of ${deployment.name}` : `the removal of ${deployment.name}`;
  const claimedAt = clock.now();
  const leaseMs = claim.lease_seconds * 1_000;
  const start = await reportStart();
  if (!start) return log.info(`Lost ${workText} before it started.`);

  const lease = keepLease({ leaseMs, clock, renew: (until) => work.renew(listenerId, claimId, until) }, start.sentAt);
  lease.extend(start.standing, start.sentAt);
  const giveUp = (): void => lease.giveUp('the listener leaves');
  stopping.addEventListener('abort', giveUp, { once: true });
  if (stopping.aborted) giveUp();
  const reporting = createReporter({ lost: lease.lost, clock, random, send: (report) => sendReport(report, lease) });
  try {
    log.info(`Carrying out ${workText}.`);
    const result = revision
      ? await runRevision(claim, revision, settings, lease, reporting)
      : await removeAll(claim, settings, lease, reporting);
    if (result) return log.info(`Done with ${workText}: ${result}.`);
    const { reason } = lease.signal;
    const cause = reason instanceof Error ? reason.message : 'its end was not taken by the service.';
    log.warn(`Letting go of ${workText}: ${cause}`);
    await lease.end();
    await release();
  } finally {
    stopping.removeEventListener('abort', giveUp);
    await lease.end();
  }

  /** Reports the start. The lease counts from the sending of this report, and nothing starts before its response. */
  async function reportStart() {
    const sentAt = clock.now();
    try {
      const options = { deadline: claimedAt + leaseMs, signal: stopping };
      return { sentAt, standing: await work.report(listenerId, claimId, { status: 'DEPLOYING' }, options) };
    } catch (error) {
      if (stopping.aborted) await release();
      else if (!(error instanceof ServiceError)) throw error;
      return undefined;
    }
  }

  async function sendReport(report: WorkReport, lease: Lease) {
    const sentAt = clock.now();
    try {
      const options = { signal: lease.lost, deadline: sentAt + leaseMs };
      const standing = await work.report(listenerId, claimId, report, options);
      lease.extend(standing, sentAt);
      return standing;
    } catch (error) {
      if (error instanceof ServiceError && error.kind === 'missing') lease.refused(error);
      throw error;
    }
  }

  async function release(): Promise<void> {
    try {
      await work.release(listenerId, claimId, { deadline: clock.now() + releaseWithinMs });
    } catch (error) {
      // The lease then expires by itself.
      if (!(error instanceof ServiceError)) throw error;
    }
  }
}

async function runRevision(
  claim: WorkClaim,
  revision: ClaimedRevision,
  { compute, tracingAt }: ClaimDependencies,
  lease: Lease,
  reporting: Reporter,
): Promise<string | undefined> {
  const spec = agentSpec(claim, revision, reporting.write, tracingAt);
  if (typeof spec === 'string') return (await reporting.conclude('DEPLOY_FAILED', spec)) ? 'failed' : undefined;
  reporting.write('info', `Starting the agent of image ${revision.image_uri}.`);
  const start = await compute.start(spec, lease.signal, lease).catch((error: unknown): AgentStart => {
    return { kind: 'failed', reason: `The listener could not deploy this revision: ${messageOf(error)}` };
  });
  if (lease.signal.aborted) return undefined;
  if (start.kind === 'failed') return (await reporting.conclude('DEPLOY_FAILED', start.reason)) ? 'failed' : undefined;
  reporting.write('info', 'The cluster says that the agent is available.');
  return (await reporting.conclude('DEPLOYED')) ? 'deployed' : undefined;
}

async function removeAll(
  { deployment: { id, name, namespace } }: WorkClaim,
  { compute, clock, random, log }: ClaimDependencies,
  lease: Lease,
  reporting: Reporter,
): Promise<string | undefined> {
  let reported: string | undefined;
  for (let failures = 1; !lease.signal.aborted; failures += 1) {
    try {
      // The removal stops only when the lease is lost. It is idempotent.
      const removing = compute.remove?.({ id, name, namespace: namespace ?? undefined }, lease);
      await Promise.race([removing, untilAborted(lease.signal)]);
      if (lease.signal.aborted) return undefined;
      return (await reporting.conclude('REMOVED')) ? 'removed' : undefined;
    } catch (error) {
      if (lease.signal.aborted) return undefined;
      const cause = messageOf(error);
      if (cause !== reported) log.warn(`${name} could not be removed, which is tried again until it can: ${cause}`);
      reported = cause;
      const waitMs = retryDelayMs(failures, random());
      reporting.write('error', `It could not be removed: ${cause} Trying again in ${Math.ceil(waitMs / 1_000)} s.`);
      await pause(clock, waitMs, lease.signal);
    }
  }
  return undefined;
}

/** The spec of a claimed revision's agent, or why this listener can't read it. */
function agentSpec(
  { deployment }: WorkClaim,
  revision: ClaimedRevision,
  log: WriteLine,
  tracingAt: ClaimDependencies['tracingAt'],
): AgentSpec | string {
  const resources = resourceSpec.safeParse(revision.resource_spec ?? {});
  if (!resources.success) {
    const [issue] = resources.error.issues;
    return `This listener does not understand the resource_spec (${issue?.path.join('.')}: ${issue?.message}); it may be older than the service.`;
  }
  return {
    deploymentId: deployment.id,
    revisionId: revision.id,
    name: deployment.name,
    program: { kind: 'image', imageUri: revision.image_uri },
    // In a cluster, the cluster provides the database.
    databaseUrl: '',
    secrets: revision.secrets,
    secretReferences: revision.secret_references,
    resourceSpec: revision.resource_spec === null ? undefined : resources.data,
    deploymentType: deploymentTypes.find((type) => type === revision.deployment_type),
    namespace: deployment.namespace ?? undefined,
    tracing: revision.tracing === null ? undefined : tracingAt?.(revision.tracing),
    log,
  };
}
