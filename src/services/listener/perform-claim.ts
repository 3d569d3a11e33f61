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
import { reporter, type Reporter } from './reporter.ts';
import type { Logger } from '../../kit/logger.ts';

export interface ClaimDependencies {
  work: WorkClient;
  listenerId: string;
  compute: Compute;
  /** The address for trace exports of agents in the cluster; absent if the service can't be reached from there. */
  tracingAt?: ((project: { project_id: string; token: string }) => AgentSpec['tracing']) | undefined;
  clock: Clock;
  random: () => number;
  log: Logger;
  /** Aborts when the listener shuts down: the claim is released as it is. */
  leaving: AbortSignal;
}

const releaseWithinMs = 5_000;

/** Carries out one claim to its end. A lost one is not touched any more; one that is not needed is released. */
export async function performClaim(claim: WorkClaim, settings: ClaimDependencies): Promise<void> {
  const { work, listenerId, clock, random, log, leaving } = settings;
  const { claim_id: claimId, deployment, revision } = claim;
  const what = revision ? `revision ${revision.id} of ${deployment.name}` : `the removal of ${deployment.name}`;
  const claimedAt = clock.now();
  const leaseMs = claim.lease_seconds * 1_000;
  const first = await begin();
  if (!first) return log.info(`Lost ${what} before it started.`);

  const lease = keepLease({ leaseMs, clock, renew: (until) => work.renew(listenerId, claimId, until) }, first.sentAt);
  lease.heard(first.standing, first.sentAt);
  const leave = (): void => lease.giveUp('the listener leaves');
  leaving.addEventListener('abort', leave, { once: true });
  if (leaving.aborted) leave();
  const reporting = reporter({ lost: lease.lost, clock, random, send: (report) => say(report, lease) });
  try {
    log.info(`Carrying out ${what}.`);
    const isDone = revision
      ? await runRevision(claim, revision, settings, lease, reporting)
      : await removeAll(claim, settings, lease, reporting);
    if (isDone) return log.info(`Done with ${what}: ${isDone}.`);
    const { reason } = lease.signal;
    const why = reason instanceof Error ? reason.message : 'its end was not taken by the service.';
    log.warn(`Letting go of ${what}: ${why}`);
    await lease.end();
    await release();
  } finally {
    leaving.removeEventListener('abort', leave);
    await lease.end();
  }

  /** The lease counts from when this is sent: nothing starts before the response. */
  async function begin() {
    const sentAt = clock.now();
    try {
      const options = { deadline: claimedAt + leaseMs, signal: leaving };
      return { sentAt, standing: await work.report(listenerId, claimId, { status: 'DEPLOYING' }, options) };
    } catch (error) {
      if (leaving.aborted) await release();
      else if (!(error instanceof ServiceError)) throw error;
      return undefined;
    }
  }

  async function say(report: WorkReport, held: Lease) {
    const sentAt = clock.now();
    try {
      const options = { signal: held.lost, deadline: sentAt + leaseMs };
      const standing = await work.report(listenerId, claimId, report, options);
      held.heard(standing, sentAt);
      return standing;
    } catch (error) {
      if (error instanceof ServiceError && error.kind === 'missing') held.refused(error);
      throw error;
    }
  }

  async function release(): Promise<void> {
    try {
      await work.release(listenerId, claimId, { deadline: clock.now() + releaseWithinMs });
    } catch (error) {
      // Then the lease runs out by itself.
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
      // Stops only when the lease is lost; an action that starts twice ends as if it started once.
      const removing = compute.remove?.({ id, name, namespace: namespace ?? undefined }, lease);
      await Promise.race([removing, untilAborted(lease.signal)]);
      if (lease.signal.aborted) return undefined;
      return (await reporting.conclude('REMOVED')) ? 'removed' : undefined;
    } catch (error) {
      if (lease.signal.aborted) return undefined;
      const why = messageOf(error);
      if (why !== reported) log.warn(`${name} could not be removed, which is tried again until it can: ${why}`);
      reported = why;
      const waitMs = retryDelayMs(failures, random());
      reporting.write('error', `It could not be removed: ${why} Trying again in ${Math.ceil(waitMs / 1_000)} s.`);
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
    // The database of what runs in a cluster is the cluster's.
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
