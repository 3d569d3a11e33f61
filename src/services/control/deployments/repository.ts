import { randomBytes, randomUUID } from 'node:crypto';
import type { Clock } from '../../../kit/clock.ts';
import type { KeyedWrite } from '../validation/idempotency-key.ts';
import { changedFields } from './validation/patch.ts';
import { deploymentStatus } from './status.ts';
import { recordChange, theService, type AuditedOperation } from '../store/audit.ts';
import { newDatabaseName } from '../store/database-names.ts';
import { insertRevision, redeployKind, type Cause } from '../revisions/insert-revision.ts';
import { lockDeployment } from '../revisions/work-repository.ts';
import type { Refusal } from '../validation/refusal.ts';
import { withLatest } from './queries.ts';
import {
  idleColumn,
  isPreview,
  deploymentColumns,
  type DeploymentChange,
  type DeploymentView,
  type NewDeployment,
  type PinnedBuild,
  type ReusedBuild,
} from '../store/records.ts';
import type { ControlDatabase, DeploymentRecord } from '../store/tables.ts';
import { brokenConstraint, brokenReference } from '../store/statements.ts';
import { noteResult, releaseKey, takeKey, type EarlierWrite } from '../store/write-keys.ts';

/** The outcome where a write's key was used before: the earlier result, or a conflict with another write. */
export type EarlierEnd =
  ({ kind: 'repeated' } & DeploymentView) | Extract<EarlierWrite, { kind: 'key-of-another' | 'deleted-since' }>;

/** The outcome of a creation: the deployment with its first revision, or the conflict. */
export type CreateEnd =
  | ({ kind: 'created' } & DeploymentView)
  | { kind: 'name-taken' }
  | { kind: 'tracing-project-exists' }
  /** The requested listener was deleted meanwhile. */
  | { kind: 'listener-gone' }
  | { kind: 'too-many-previews' }
  | EarlierEnd;

/** The outcome of a change; undefined when there is no such deployment. */
export type ChangeEnd =
  ({ kind: 'changed' } & DeploymentView) | { kind: 'refused'; refusal: Refusal } | EarlierEnd | undefined;

/** Decides the new state of a deployment from its current one, or refuses the change. */
export type Decide = (current: DeploymentRecord) => DeploymentChange | { refused: Refusal };

/** Creates and changes deployments. @param deleteExpired removes expired idempotency keys. */
export const deploymentStore = (db: ControlDatabase, clock: Clock, deleteExpired: () => Promise<void>) => ({
  /** Creates a deployment with a first revision and a tracing project. Constraints decide between concurrent ones. */
  async createDeployment(
    tenantId: string,
    requested: NewDeployment,
    keyed?: KeyedWrite,
    doing: AuditedOperation = { by: theService, operation: 'create deployment' },
    maxPreviews = Infinity,
  ): Promise<CreateEnd> {
    await deleteExpired();
    const now = new Date(clock.now());
    const id = randomUUID();
    const projectId = randomUUID();
    try {
      return await db.transaction().execute(async (trx): Promise<CreateEnd> => {
        const earlier = keyed && (await earlierEnd(trx, now, tenantId, keyed));
        if (earlier) return earlier;
        if (isPreview(requested) && !(await hasRoomForPreview(trx, tenantId, maxPreviews))) {
          if (keyed) await releaseKey(trx, tenantId, keyed);
          return { kind: 'too-many-previews' };
        }
        await trx
          .insertInto('deployments')
          .values({
            id,
            tenant_id: tenantId,
            name: requested.name,
            source: requested.source,
            ...deploymentColumns(requested),
            ...idleColumn(requested.idleAfter),
            database_state: 'absent',
            database_name: newDatabaseName(),
            database_password: randomBytes(24).toString('base64url'),
            status: deploymentStatus({ database: 'absent', revisionOnItsWay: true, deletion: 'none' }),
            latest_revision_id: null,
            active_revision_id: null,
            image_version: null,
            tracing_project_id: projectId,
            created_at: now,
            updated_at: now,
          })
          .execute();
        await trx
          .insertInto('tracing_projects')
          .values({ id: projectId, tenant_id: tenantId, name: requested.name, deployment_id: id, created_at: now })
          .execute();
        const { build = 'new', hold } = requested;
        const view = await addRevision(trx, now, id, build, { kind: 'create', by: doing.by }, hold);
        if (keyed) await noteResult(trx, tenantId, keyed, { deployment_id: id, revision_id: view.latest.id });
        const subject = { deployment_id: id, deployment_name: requested.name, revision_id: view.latest.id };
        await recordChange(trx, now, { tenantId, ...doing, subject, fields: changedFields(undefined, requested) });
        return { kind: 'created', ...view };
      });
    } catch (error) {
      const constraint = brokenConstraint(error);
      if (constraint === 'deployments_name') return { kind: 'name-taken' };
      if (constraint === 'tracing_projects_name') return { kind: 'tracing-project-exists' };
      if (brokenReference(error) === 'deployments_listener') return { kind: 'listener-gone' };
      throw error;
    }
  },

  /**
   * Changes a deployment under a lock on its row: `decide` gets the current state, and its result is written, with a
   * new revision where needed. A refusal changes nothing and is returned. A repeated write is not decided again.
   */
  async changeDeployment(
    tenantId: string,
    id: string,
    decide: Decide,
    keyed?: KeyedWrite,
    doing: AuditedOperation = { by: theService, operation: 'change deployment' },
  ): Promise<ChangeEnd> {
    await deleteExpired();
    return db.transaction().execute(async (trx) => {
      const now = new Date(clock.now());
      const earlier = keyed && (await earlierEnd(trx, now, tenantId, keyed));
      if (earlier) return earlier;
      const end = await applyChange(trx, now, tenantId, id, decide, doing);
      if (!keyed) return end;
      if (end?.kind !== 'changed') await releaseKey(trx, tenantId, keyed);
      else await noteResult(trx, tenantId, keyed, { deployment_id: id, revision_id: end.latest.id });
      return end;
    });
  },
});

/** Whether a tenant may have one more preview. Creations of the same tenant wait for each other, so none passes it. */
async function hasRoomForPreview(trx: ControlDatabase, tenantId: string, max: number): Promise<boolean> {
  if (max === Infinity) return true;
  await trx.selectFrom('tenants').select('id').where('id', '=', tenantId).forNoKeyUpdate().execute();
  const { previews } = await trx
    .selectFrom('deployments')
    .select(({ fn }) => fn.countAll<string>().as('previews'))
    .where('tenant_id', '=', tenantId)
    .where('is_preview', '=', true)
    .where('deletion', '=', 'none')
    .executeTakeFirstOrThrow();
  return Number(previews) < max;
}

async function applyChange(
  trx: ControlDatabase,
  now: Date,
  tenantId: string,
  id: string,
  decide: Decide,
  doing: AuditedOperation,
): Promise<Extract<ChangeEnd, { kind: 'changed' | 'refused' }> | undefined> {
  const current = await lockDeployment(trx, id, tenantId);
  if (!current) return undefined;
  const decision = decide(current);
  if ('refused' in decision) return { kind: 'refused', refusal: decision.refused };
  const { revision } = decision;
  const idle = idleColumn(decision.idleAfter);
  const nextIdle = { idle_after_seconds: current.idle_after_seconds, ...idle };
  const fields = [
    ...changedFields(current, decision.wanted),
    ...(nextIdle.idle_after_seconds === current.idle_after_seconds ? [] : ['idle_after_seconds']),
  ];
  if (revision === 'none' && fields.length === 0) return { kind: 'changed', ...(await viewOf(trx, id)) };
  await trx
    .updateTable('deployments')
    .set({ ...deploymentColumns(decision.wanted), ...idle, updated_at: now })
    .where('id', '=', id)
    .execute();
  const view =
    revision === 'none'
      ? await viewOf(trx, id)
      : await addRevision(
          trx,
          now,
          id,
          revision,
          {
            kind:
              typeof revision === 'object' && 'redeploy_of' in revision
                ? redeployKind(revision, await latestAndLive(trx, current))
                : 'patch',
            by: doing.by,
          },
          decision.hold,
        );
  const newRevision = revision === 'none' ? {} : { revision_id: view.latest.id };
  const subject = { deployment_id: id, deployment_name: current.name, ...newRevision };
  await recordChange(trx, now, { tenantId, ...doing, subject, fields });
  return { kind: 'changed', ...view };
}

async function earlierEnd(
  trx: ControlDatabase,
  now: Date,
  tenantId: string,
  keyed: KeyedWrite,
): Promise<EarlierEnd | undefined> {
  const earlier = await takeKey(trx, now, tenantId, keyed);
  if (earlier?.kind === 'answered') throw new Error(`${keyed.request} was answered before as another kind of write`);
  if (earlier?.kind !== 'repeated') return earlier;
  return { kind: 'repeated', ...(await viewOf(trx, earlier.deploymentId, earlier.revisionId)) };
}

/** Adds a revision of a deployment's requested state, and makes it the latest. The deployment must be locked. */
export async function addRevision(
  trx: ControlDatabase,
  now: Date,
  deploymentId: string,
  build: 'new' | ReusedBuild | PinnedBuild,
  cause: Cause,
  hold?: number,
): Promise<DeploymentView> {
  const wanted = await currentDeployment(trx, deploymentId);
  const latest = await insertRevision(trx, now, wanted, cause, {
    build: build === 'new' ? undefined : build,
    hold,
  });
  const deployment = await trx
    .updateTable('deployments')
    .set({
      latest_revision_id: latest.id,
      status: deploymentStatus({ database: wanted.database_state, revisionOnItsWay: true, deletion: wanted.deletion }),
      updated_at: now,
    })
    .where('id', '=', deploymentId)
    .returningAll()
    .executeTakeFirstOrThrow();
  return { deployment, latest };
}

const currentDeployment = (trx: ControlDatabase, id: string) =>
  trx.selectFrom('deployments').selectAll().where('id', '=', id).executeTakeFirstOrThrow();

/** The latest and the live revision of a deployment, where it has them. */
const latestAndLive = (trx: ControlDatabase, { latest_revision_id, active_revision_id }: DeploymentRecord) =>
  trx
    .selectFrom('revisions')
    .select(['id', 'build_folder'])
    .where('id', 'in', [latest_revision_id, active_revision_id])
    .execute();

/** A deployment with its latest revision, or with the one of `revisionId` in its place. */
async function viewOf(trx: ControlDatabase, id: string, revisionId?: string): Promise<DeploymentView> {
  const current = await currentDeployment(trx, id);
  const deployment = revisionId === undefined ? current : { ...current, latest_revision_id: revisionId };
  const [view] = await withLatest(trx, [deployment]);
  if (!view) throw new Error(`the deployment ${id} has no latest revision`);
  return view;
}
