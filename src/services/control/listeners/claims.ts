import type { Clock } from '../../../kit/clock.ts';
import type { ReportedStatus } from '../../../contract/control/listener-work.ts';
import { restoreRetryDelayMs } from './listener-work.ts';
import { runningStatuses } from '../revisions/states.ts';
import { logStore, type NewLogLine } from '../logs/repository.ts';
import { lockDeployment, makeLive, refreshStatus, revisionWorkStore, moveTo } from '../revisions/work-repository.ts';
import { findRevision } from '../revisions/repository.ts';
import type {
  ClaimEnd,
  ControlDatabase,
  DeploymentRecord,
  ListenerClaimRecord,
  RevisionRecord,
} from '../store/tables.ts';

/** The state of a claim after a report: still held, or over, in which case another holder may have the work. */
export type ClaimStatus =
  /** `wanted`: false where the revision was interrupted or its deployment is being deleted. */
  { kind: 'held'; claim: ListenerClaimRecord; wanted: boolean } | { kind: 'over'; reason: string };

export interface ClaimReport {
  status: ReportedStatus;
  message: string | null;
  imageVersion: string | null;
  /** In order, each with its number. */
  lines: readonly (NewLogLine & { sequence: number })[];
}

export const claimStore = (db: ControlDatabase, clock: Clock) => ({
  /** Renews a claim. An expired one is valid again unless another holder took over. */
  async renewClaim(listenerId: string, claimId: string): Promise<ClaimStatus> {
    return withClaim(db, clock, listenerId, claimId, (held, trx, now) => extendLease(trx, now, held));
  },

  /**
   * Stores a report: lines of the log, each number once, then the status. A repeated final status is accepted again.
   * @returns `unfit` where the revision can no longer get that status, or the claim is for other work.
   */
  async reportWork(
    listenerId: string,
    claimId: string,
    report: ClaimReport,
  ): Promise<ClaimStatus | { kind: 'unfit'; reason: string }> {
    return withClaim<ClaimStatus | { kind: 'unfit'; reason: string }>(
      db,
      clock,
      listenerId,
      claimId,
      async (held, trx, now) => {
        await storeLines(trx, clock, held, report.lines);
        const unfitReason = await applyReport(trx, now, clock, held, report);
        if (unfitReason !== undefined) return { kind: 'unfit', reason: unfitReason };
        if (report.status === 'DEPLOYING') return extendLease(trx, now, held);
        // The next holder can't restore the state from before the first one started.
        if (report.status === 'DEPLOY_FAILED' && held.claim.work === 'put-back') {
          return endClaim(
            trx,
            held,
            'abandoned',
            new Date(now.getTime() + restoreRetryDelayMs(await divergedForMs(trx, now, held))),
          );
        }
        const mayBePartial =
          report.status === 'DEPLOY_FAILED' && held.claim.work === 'roll-out' && held.claim.is_resumed;
        return endClaim(trx, held, mayBePartial ? 'abandoned' : report.status, now);
      },
      (ended) => (ended.ended_as === report.status ? { kind: 'held', claim: ended, wanted: true } : undefined),
    );
  },

  /** Releases a claim: the next holder starts its work again. `isUndone`: nothing is left in the cluster. */
  async releaseClaim(listenerId: string, claimId: string, { isUndone }: { isUndone: boolean }): Promise<ClaimStatus> {
    return withClaim(db, clock, listenerId, claimId, async (held, trx, now) => {
      const { revision, claim } = held;
      if (revision?.status === 'DEPLOYING') {
        await moveTo(trx, now, revision.id, 'AWAITING_DEPLOY', { message: `Released by ${claim.holder}.` });
      }
      const isWanted = claim.work === 'remove' || (revision !== undefined && isRunning(revision));
      return endClaim(trx, held, isWanted || isUndone ? 'released' : 'abandoned', now);
    });
  },

  idsOfClaim: (listenerId: string, claimId: string) =>
    claimsOf(db, listenerId, claimId).select(['deployment_id', 'revision_id']).executeTakeFirst(),
});

const claimsOf = (db: ControlDatabase, listenerId: string, id: string) =>
  db.selectFrom('listener_claims').where('id', '=', id).where('listener_id', '=', listenerId);

/** A valid claim with its deployment, which is locked, and its revision. */
interface HeldClaim {
  claim: ListenerClaimRecord;
  deployment: DeploymentRecord;
  revision: RevisionRecord | undefined;
}

async function withClaim<End = ClaimStatus>(
  db: ControlDatabase,
  clock: Clock,
  listenerId: string,
  claimId: string,
  act: (held: HeldClaim, trx: ControlDatabase, now: Date) => Promise<End>,
  whenEnded: (claim: ListenerClaimRecord) => End | undefined = () => undefined,
): Promise<End | Extract<ClaimStatus, { kind: 'over' }>> {
  const find = (trx: ControlDatabase) => claimsOf(trx, listenerId, claimId).selectAll().executeTakeFirst();
  return db.transaction().execute(async (trx): Promise<End | Extract<ClaimStatus, { kind: 'over' }>> => {
    const found = await find(trx);
    const deployment = found && (await lockDeployment(trx, found.deployment_id));
    // Read it again under the lock: a new holder may have taken over meanwhile.
    const claim = deployment && (await find(trx));
    if (!claim) return { kind: 'over', reason: takenOverMessage };
    if (claim.ended_as !== null) return whenEnded(claim) ?? { kind: 'over', reason: endedMessage(claim.ended_as) };
    const revision = await findRevision(trx, deployment.id, claim.revision_id);
    return act({ claim, deployment, revision }, trx, new Date(clock.now()));
  });
}

const takenOverMessage =
  'This claim has ended: its lease expired and another holder took over, or its deployment is gone.';
const endedMessage = (end: ClaimEnd): string => `This claim has ended as ${end}.`;

async function extendLease(
  trx: ControlDatabase,
  now: Date,
  { claim, deployment, revision }: HeldClaim,
): Promise<ClaimStatus> {
  const extended = await trx
    .updateTable('listener_claims')
    .set({ expires_at: new Date(now.getTime() + claim.lease_ms) })
    .where('id', '=', claim.id)
    .returningAll()
    .executeTakeFirstOrThrow();
  const { deletion } = deployment;
  const isNeeded = claim.work === 'put-back' || (revision !== undefined && isRunning(revision));
  const wanted = claim.work === 'remove' ? deletion === 'asked' : deletion === 'none' && isNeeded;
  return { kind: 'held', claim: extended, wanted };
}

async function endClaim(
  trx: ControlDatabase,
  { claim }: HeldClaim,
  ended_as: ClaimEnd,
  expires_at: Date,
): Promise<ClaimStatus> {
  const ended = await trx
    .updateTable('listener_claims')
    .set({ ended_as, expires_at })
    .where('id', '=', claim.id)
    .returningAll()
    .executeTakeFirstOrThrow();
  return { kind: 'held', claim: ended, wanted: true };
}

/** A log is trimmed with the first lines of a claim, and each time this many more have arrived. */
const linesBetweenTrims = 1_000;

/** How long the cluster may have diverged from the live revision (ms): since the newest revision ended. */
async function divergedForMs(trx: ControlDatabase, now: Date, { deployment }: HeldClaim): Promise<number> {
  const newest = await trx
    .selectFrom('revisions')
    .select('updated_at')
    .where('id', '=', deployment.latest_revision_id)
    .executeTakeFirst();
  return newest ? now.getTime() - newest.updated_at.getTime() : 0;
}

/** Lines of a removal are stored in the log of the deployment's latest revision. */
async function storeLines(
  trx: ControlDatabase,
  clock: Clock,
  { claim, deployment }: HeldClaim,
  lines: ClaimReport['lines'],
): Promise<void> {
  const logRevisionId = claim.revision_id ?? deployment.latest_revision_id;
  const storedSequence = Number(claim.log_sequence);
  const newLines = lines.filter(({ sequence }) => sequence > storedSequence);
  const last = newLines.at(-1);
  if (!last || logRevisionId === null) return;
  await logStore(trx, clock).appendLog(logRevisionId, 'deploy', newLines);
  const isDue =
    storedSequence === 0 ||
    Math.floor(storedSequence / linesBetweenTrims) < Math.floor(last.sequence / linesBetweenTrims);
  if (isDue) await logStore(trx, clock).trimLog(logRevisionId, 'deploy');
  await trx.updateTable('listener_claims').set({ log_sequence: last.sequence }).where('id', '=', claim.id).execute();
}

/** Applies the status, or returns why that is impossible. */
async function applyReport(
  trx: ControlDatabase,
  now: Date,
  clock: Clock,
  { claim, deployment, revision }: HeldClaim,
  { status, message, imageVersion }: ClaimReport,
): Promise<string | undefined> {
  if (status === 'REMOVED') {
    return claim.revision_id === null
      ? undefined
      : 'This claim is for a revision: REMOVED reports the end of a removal.';
  }
  if (claim.revision_id === null) {
    return status === 'DEPLOYING' ? undefined : `This claim is for a removal: ${status} reports on a revision.`;
  }
  if (deployment.deletion !== 'none') return 'Its deployment is being deleted.';
  if (claim.work === 'put-back') {
    // The revision stays live in the database, even if the cluster runs something else.
    const hasFailed = status === 'DEPLOY_FAILED';
    const note = hasFailed
      ? `This revision could not be restored in the cluster; it is tried again. Reason: ${message ?? 'not reported'}`
      : null;
    if (hasFailed)
      await logStore(trx, clock).appendLog(claim.revision_id, 'deploy', [{ level: 'error', message: message ?? '' }]);
    if (status !== 'DEPLOYING') await revisionWorkStore(trx, clock).noteLive(claim.revision_id, note);
    return undefined;
  }
  if (!revision || !isRunning(revision)) return `The revision has ended already: it is ${revision?.status ?? 'gone'}.`;
  if (revision.status === 'AWAITING_DEPLOY') await moveTo(trx, now, revision.id, 'DEPLOYING');
  if (status === 'DEPLOY_FAILED') {
    await logStore(trx, clock).appendLog(revision.id, 'deploy', [{ level: 'error', message: message ?? '' }]);
    await moveTo(trx, now, revision.id, 'DEPLOY_FAILED', { message });
    await refreshStatus(trx, now, deployment);
  }
  if (status === 'DEPLOYED') {
    // The database of a deployment in a cluster belongs to the cluster: it exists where the revision does.
    const database_state = 'ready';
    await trx.updateTable('deployments').set({ database_state }).where('id', '=', deployment.id).execute();
    await makeLive(trx, now, { ...deployment, database_state }, revision.id, imageVersion);
  }
  return undefined;
}

const isRunning = ({ status }: RevisionRecord): boolean => runningStatuses.includes(status);
