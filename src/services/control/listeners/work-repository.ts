import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Clock } from '../../../kit/clock.ts';
import { unfinishedStatuses } from '../revisions/states.ts';
import { maxRestoreDelayMs, nextListenerWork } from './listener-work.ts';
import { findRevision, unfinishedOf } from '../revisions/repository.ts';
import { lockDeployment, skipOlder, moveTo } from '../revisions/work-repository.ts';
import type {
  ControlDatabase,
  DeploymentRecord,
  ListenerClaimRecord,
  ListenerRecord,
  RevisionRecord,
} from '../store/tables.ts';

export interface ClaimedWork {
  claim: ListenerClaimRecord;
  deployment: DeploymentRecord;
  /** Undefined where the deployment is to be removed from the cluster. */
  revision: RevisionRecord | undefined;
}

/** The holder, and the duration of the lease (ms). */
export interface Claimer {
  holder: string;
  leaseMs: number;
}

/** How often to try a claim: another holder may be faster each time. */
const maxAttempts = 10;

/**
 * Claims the next piece of a listener's work (`nextListenerWork`) for one holder; older waiting revisions end SKIPPED.
 * A deployment has at most one valid claim, so no two holders ever work on it.
 */
export async function claimWork(
  db: ControlDatabase,
  clock: Clock,
  listener: ListenerRecord,
  claimer: Claimer,
): Promise<ClaimedWork | undefined> {
  await shortenLeases(db, new Date(clock.now()), listener.id);
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const claimed = await db.transaction().execute(async (trx) => {
      const id = await findUnclaimed(trx, new Date(clock.now()), listener.id);
      return id === undefined ? 'nothing' : claimDeployment(trx, new Date(clock.now()), id, listener, claimer);
    });
    if (claimed === 'nothing') return undefined;
    if (claimed !== 'gone') return claimed;
  }
  return undefined;
}

/**
 * Shortens leases that end later than they can by now, because the clock was set back. They end after their full
 * duration from now on, so that they outlast their holders, who measure by their own clocks.
 */
async function shortenLeases(db: ControlDatabase, now: Date, listenerId: string): Promise<void> {
  const lease = sql<number>`case when ended_as is null then lease_ms else ${maxRestoreDelayMs}::bigint end`;
  const latestExpiry = sql<Date>`${now}::timestamptz + ${lease} * interval '1 millisecond'`;
  await db
    .updateTable('listener_claims')
    .set({ expires_at: latestExpiry })
    .where('deployment_id', 'in', (query) =>
      query
        .selectFrom('listener_claims')
        .select('deployment_id')
        .where('listener_id', '=', listenerId)
        .where('expires_at', '>', latestExpiry)
        .forUpdate()
        .skipLocked(),
    )
    .execute();
}

/** The id of a deployment with work that no listener holds at this moment. */
async function findUnclaimed(trx: ControlDatabase, now: Date, listenerId: string): Promise<string | undefined> {
  const found = await trx
    .selectFrom('deployments')
    .leftJoin('listener_claims', 'listener_claims.deployment_id', 'deployments.id')
    .select('deployments.id')
    .where('deployments.listener_id', '=', listenerId)
    .where((where) =>
      where.or([
        where('listener_claims.id', 'is', null),
        where('listener_claims.ended_as', 'is not', null),
        where('listener_claims.expires_at', '<=', now),
      ]),
    )
    .where((where) =>
      where.or([
        where('deployments.deletion', '=', 'asked'),
        where.and([
          where('deployments.deletion', '=', 'none'),
          where.or([
            // A holder whose lease expired may have left the cluster in any state.
            where.and([where('listener_claims.id', 'is not', null), where('listener_claims.ended_as', 'is', null)]),
            where.and([
              where('listener_claims.ended_as', '=', 'abandoned'),
              where('listener_claims.expires_at', '<=', now),
            ]),
            where.exists(
              where
                .selectFrom('revisions')
                .select('revisions.id')
                .whereRef('revisions.deployment_id', '=', 'deployments.id')
                .where('revisions.status', 'in', unfinishedStatuses),
            ),
          ]),
        ]),
      ]),
    )
    // The least recently claimed first, so that failing work does not starve the others.
    .orderBy('listener_claims.claimed_at', (order) => order.asc().nullsFirst())
    .orderBy('deployments.updated_at')
    .limit(1)
    .executeTakeFirst();
  return found?.id;
}

async function claimDeployment(
  trx: ControlDatabase,
  now: Date,
  deploymentId: string,
  listener: ListenerRecord,
  { holder, leaseMs }: Claimer,
): Promise<ClaimedWork | 'gone'> {
  // Others may have found it too; the lock admits one at a time.
  const deployment = await lockDeployment(trx, deploymentId);
  const lastClaim = await findClaim(trx, deploymentId);
  if (!deployment || (lastClaim && lastClaim.ended_as === null && lastClaim.expires_at > now)) return 'gone';
  const unfinished = await unfinishedOf(trx, deploymentId);
  const isAbandoned = lastClaim !== undefined && (lastClaim.ended_as === null || lastClaim.ended_as === 'abandoned');
  const next = nextListenerWork(deployment.deletion, unfinished, isAbandoned);
  if (next.kind === 'nothing') return 'gone';
  let revision: RevisionRecord | undefined;
  if (next.kind === 'roll-out') {
    await skipOlder(trx, now, next.revision.id, next.skipped);
    for (const { id } of next.queued) await moveTo(trx, now, id, 'QUEUED');
    revision = await startRevision(
      trx,
      now,
      next.revision,
      next.steps,
      startMessage(holder, listener.compute_id, lastClaim),
    );
  }
  if (next.kind === 'put-back' && lastClaim && lastClaim.expires_at > now) return 'gone';
  if (next.kind === 'put-back') revision = await findRevision(trx, deploymentId, deployment.active_revision_id);
  const requested = deployment.source_config.listener_config?.k8s_namespace;
  const claim = {
    id: randomUUID(),
    listener_id: listener.id,
    work: next.kind,
    revision_id: revision?.id ?? null,
    is_resumed: isAbandoned || (revision !== undefined && lastClaim?.revision_id === revision.id),
    holder,
    // A deployment stays in its first namespace, whatever the listener's configuration is now.
    namespace: requested ?? lastClaim?.namespace ?? listener.compute_config.k8s_namespaces?.[0] ?? null,
    lease_ms: leaseMs,
    log_sequence: 0,
    claimed_at: now,
    expires_at: new Date(now.getTime() + leaseMs),
    ended_as: null,
  };
  const stored = await trx
    .insertInto('listener_claims')
    .values({ deployment_id: deploymentId, ...claim })
    .onConflict((conflict) => conflict.column('deployment_id').doUpdateSet(claim))
    .returningAll()
    .executeTakeFirstOrThrow();
  return { claim: stored, deployment, revision };
}

async function startRevision(
  trx: ControlDatabase,
  now: Date,
  revision: RevisionRecord,
  steps: readonly RevisionRecord['status'][],
  message: string,
): Promise<RevisionRecord> {
  let started = revision;
  for (const status of steps) started = await moveTo(trx, now, revision.id, status, { message });
  return started;
}

/** The last claim on a deployment, of any holder. */
export const findClaim = (trx: ControlDatabase, deploymentId: string): Promise<ListenerClaimRecord | undefined> =>
  trx.selectFrom('listener_claims').selectAll().where('deployment_id', '=', deploymentId).executeTakeFirst();

function startMessage(holder: string, computeId: string, former: ListenerClaimRecord | undefined): string {
  const message = `Carried out by ${holder} of the listener ${computeId}`;
  if (!former || former.revision_id === null) return `${message}.`;
  if (former.ended_as === 'released') return `${message}, after ${former.holder} had released it.`;
  return former.ended_as === null ? `${message}, after the lease of ${former.holder} had run out.` : `${message}.`;
}
