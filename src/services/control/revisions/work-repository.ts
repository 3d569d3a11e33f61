import type { Clock } from '../../../kit/clock.ts';
import type { RevisionStatus } from '../../../contract/control/revision-status.ts';
import { missingSource } from '../deployments/validation/redeploy.ts';
import { deploymentStatus, type DatabaseState } from '../deployments/status.ts';
import { firstStep, mayStep, unfinishedStatuses, waitingStatuses } from './states.ts';
import { findRevision, unfinishedOf } from './repository.ts';
import { recordEvent } from './insert-revision.ts';
import { inTransaction } from '../store/statements.ts';
import type { ControlDatabase, DeploymentRecord, RevisionRecord } from '../store/tables.ts';

/** The fields that a transition may set. An absent field stays as it is. */
export interface StepDetails {
  /** The reason, for people: `status_message`. */
  message?: string | null;
  /** The commit that is built: `repo_commit_sha`. */
  commit?: string;
  /** The folder of the build; null when it was removed. */
  buildFolder?: string | null;
  /** The warnings of the build: `build_warnings`. */
  warnings?: readonly string[];
  /** `sha256:<hex>` of the content of the build: `build_digest`. */
  digest?: string;
}

export const revisionWorkStore = (db: ControlDatabase, clock: Clock) => ({
  /**
   * Claims the newest waiting revision of a deployment, and skips older ones; while one is running, waiting ones become
   * QUEUED instead. A revision with a build starts at AWAITING_DEPLOY. Each revision is claimed once, even by several
   * processes. Ignores deployments of a listener, which `claimWork` serves.
   */
  async claimNextRevision(deploymentId: string): Promise<RevisionRecord | undefined> {
    return inTransaction(db, async (trx) => {
      const deployment = await lockDeployment(trx, deploymentId);
      if (!deployment) return undefined;
      const unfinished = await unfinishedOf(trx, deploymentId);
      const waiting = unfinished.filter(({ status }) => waitingStatuses.includes(status));
      const now = new Date(clock.now());
      if (waiting.length < unfinished.length) {
        for (const { id, status } of waiting) if (status === 'CREATING') await moveTo(trx, now, id, 'QUEUED');
        return undefined;
      }
      // A revision without its source keeps waiting, until a newer one with a source replaces it.
      const at = waiting.findIndex((revision) => missingSource(revision) === undefined);
      const next = waiting[at];
      const older = waiting.slice(at + 1);
      if (!next || deployment.listener_id !== null) return undefined;
      await skipOlder(trx, now, next.id, older);
      return moveTo(trx, now, next.id, firstStep(next.build_folder !== null));
    });
  },

  /**
   * Moves a revision from one of the statuses `from` to `to`; undefined where it has none of them. Only `activate` leads
   * to DEPLOYED. @throws Error for a transition that `revisionSteps` does not allow, which is a bug.
   */
  async setStatus(revisionId: string, from: readonly RevisionStatus[], to: RevisionStatus, details: StepDetails = {}) {
    const invalidFrom = from.find((status) => !mayStep(status, to));
    if (invalidFrom !== undefined || to === 'DEPLOYED')
      throw new Error(`no revision steps from ${invalidFrom ?? from.join()} to ${to}`);
    return inTransaction(db, async (trx) => {
      const find = trx.selectFrom('revisions').select(['deployment_id', 'status']).where('id', '=', revisionId);
      const owner = await find.executeTakeFirst();
      const deployment = owner && (await lockDeployment(trx, owner.deployment_id));
      // Read again under the lock.
      if (!deployment || !from.includes((await find.executeTakeFirstOrThrow()).status)) return undefined;
      const now = new Date(clock.now());
      const moved = await moveTo(trx, now, revisionId, to, details);
      await refreshStatus(trx, now, deployment);
      return moved;
    });
  },

  /**
   * Makes a revision the live one, in one transaction: its status becomes DEPLOYED, and the deployment's
   * `active_revision_id` is its id. Changes nothing and returns false where it is no longer DEPLOYING.
   */
  async activate(deploymentId: string, revisionId: string, imageVersion?: string | null): Promise<boolean> {
    return inTransaction(db, async (trx) => {
      const deployment = await lockDeployment(trx, deploymentId);
      const revision = await findRevision(trx, deploymentId, revisionId);
      if (!deployment || revision?.status !== 'DEPLOYING') return false;
      const now = new Date(clock.now());
      await makeLive(trx, now, deployment, revisionId, imageVersion);
      return true;
    });
  },

  async setDatabaseState(deploymentId: string, state: DatabaseState): Promise<void> {
    await inTransaction(db, async (trx) => {
      const deployment = await lockDeployment(trx, deploymentId);
      if (!deployment || deployment.database_state === state) return;
      await trx.updateTable('deployments').set({ database_state: state }).where('id', '=', deploymentId).execute();
      await refreshStatus(trx, new Date(clock.now()), { ...deployment, database_state: state });
    });
  },

  /** Sets a live revision's message about its agent; null clears it. */
  async noteLive(revisionId: string, message: string | null): Promise<void> {
    await db
      .updateTable('revisions')
      .set({ status_message: message, updated_at: new Date(clock.now()) })
      .where('id', '=', revisionId)
      .where('status', '=', 'DEPLOYED')
      .where('status_message', 'is distinct from', message)
      .execute();
  },

  /** Ends the live revision as DEPLOY_FAILED after a crash loop. Changes nothing where another one is live by now. */
  async giveUp(deploymentId: string, revisionId: string, message: string): Promise<void> {
    await db.transaction().execute(async (trx) => {
      const deployment = await lockDeployment(trx, deploymentId);
      if (deployment?.active_revision_id !== revisionId) return;
      const now = new Date(clock.now());
      await moveTo(trx, now, revisionId, 'DEPLOY_FAILED', { message });
      await trx
        .updateTable('deployments')
        .set({ active_revision_id: null, updated_at: now })
        .where('id', '=', deploymentId)
        .execute();
      await refreshStatus(trx, now, deployment);
    });
  },
});

/** Makes a DEPLOYING revision the live one of its deployment, which must be locked. */
export async function makeLive(
  trx: ControlDatabase,
  now: Date,
  deployment: DeploymentRecord,
  revisionId: string,
  imageVersion: string | null = null,
): Promise<void> {
  await moveTo(trx, now, revisionId, 'DEPLOYED', { message: null });
  await trx
    .updateTable('deployments')
    .set({ active_revision_id: revisionId, image_version: imageVersion, updated_at: now })
    .where('id', '=', deployment.id)
    .execute();
  await refreshStatus(trx, now, deployment);
}

/**
 * Locks a deployment. Call it before every change of its revisions, so that all transactions lock in the same order.
 * @param tenantId where given, finds and waits only for a deployment of this tenant.
 */
export async function lockDeployment(
  trx: ControlDatabase,
  id: string,
  tenantId?: string,
): Promise<DeploymentRecord | undefined> {
  const byId = trx.selectFrom('deployments').selectAll().where('id', '=', id);
  const query = tenantId === undefined ? byId : byId.where('tenant_id', '=', tenantId);
  return query.forUpdate().executeTakeFirst();
}

/** Sets the status of a revision, whose deployment must be locked, and records the event. */
export async function moveTo(
  trx: ControlDatabase,
  now: Date,
  revisionId: string,
  to: RevisionStatus,
  details: StepDetails = {},
): Promise<RevisionRecord> {
  const { message, commit, buildFolder, warnings, digest } = details;
  const moved = await trx
    .updateTable('revisions')
    .set({
      status: to,
      updated_at: now,
      ...(message === undefined ? {} : { status_message: message }),
      ...(commit === undefined ? {} : { repo_commit_sha: commit }),
      ...(buildFolder === undefined ? {} : { build_folder: buildFolder }),
      ...(warnings === undefined ? {} : { build_warnings: [...warnings] }),
      ...(digest === undefined ? {} : { build_digest: digest }),
    })
    .where('id', '=', revisionId)
    .returningAll()
    .executeTakeFirstOrThrow();
  await recordEvent(trx, now, revisionId, to, message ?? null);
  return moved;
}

/** Updates the status of a locked deployment from its current causes. */
export async function refreshStatus(trx: ControlDatabase, now: Date, deployment: DeploymentRecord): Promise<void> {
  const unfinished = await trx
    .selectFrom('revisions')
    .select('id')
    .where('deployment_id', '=', deployment.id)
    .where('status', 'in', unfinishedStatuses)
    .limit(1)
    .executeTakeFirst();
  const status = deploymentStatus({
    database: deployment.database_state,
    revisionOnItsWay: unfinished !== undefined,
    deletion: deployment.deletion,
  });
  if (status === deployment.status) return;
  await trx.updateTable('deployments').set({ status, updated_at: now }).where('id', '=', deployment.id).execute();
}

/** Skips waiting revisions that a newer one replaced. */
export async function skipOlder(
  trx: ControlDatabase,
  now: Date,
  by: string,
  older: readonly Pick<RevisionRecord, 'id'>[],
): Promise<void> {
  const message = `The newer revision ${by} was requested before this one started.`;
  for (const { id } of older) await moveTo(trx, now, id, 'SKIPPED', { message });
}
