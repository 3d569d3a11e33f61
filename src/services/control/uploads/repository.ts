import type { Clock } from '../../../kit/clock.ts';
import { unfinishedStatuses } from '../revisions/states.ts';
import type { ControlDatabase } from '../store/tables.ts';

/** The state of an upload address: issued, stored with a tarball, or the tarball was removed. */
export type UploadState = 'issued' | 'stored' | 'removed';

export interface Upload {
  objectPath: string;
  deploymentId: string;
  state: UploadState;
  /** `sha256:<hex>`; undefined before the upload. */
  digest: string | undefined;
}

export const uploadStore = (db: ControlDatabase, clock: Clock) => ({
  /** Stores an address that is issued for an existing deployment. */
  async add({
    objectPath,
    deploymentId,
    expiresAt,
  }: {
    objectPath: string;
    deploymentId: string;
    expiresAt: Date;
  }): Promise<void> {
    await db
      .insertInto('uploads')
      .values({
        object_path: objectPath,
        deployment_id: deploymentId,
        expires_at: expiresAt,
        digest: null,
        bytes: null,
        stored_at: null,
        removed_at: null,
        created_at: new Date(clock.now()),
      })
      .execute();
  },

  /** The upload of this path, of any tenant; undefined for an unknown path or a deployment that is being deleted. */
  async find(objectPath: string): Promise<Upload | undefined> {
    const row = await db
      .selectFrom('uploads')
      .innerJoin('deployments', 'deployments.id', 'uploads.deployment_id')
      .select(['object_path', 'deployment_id', 'digest', 'stored_at', 'removed_at'])
      .where('object_path', '=', objectPath)
      .where('deployments.deletion', '=', 'none')
      .executeTakeFirst();
    if (!row) return undefined;
    const { object_path, deployment_id, digest, stored_at, removed_at } = row;
    const state = removed_at ? 'removed' : stored_at ? 'stored' : 'issued';
    return { objectPath: object_path, deploymentId: deployment_id, state, digest: digest ?? undefined };
  },

  /** Records a stored tarball; false where the address was used before, or its deployment is being deleted. */
  async noteStored(objectPath: string, { digest, bytes }: { digest: string; bytes: number }): Promise<boolean> {
    const noted = await db
      .updateTable('uploads')
      .set({ digest, bytes: String(bytes), stored_at: new Date(clock.now()) })
      .where('object_path', '=', objectPath)
      .where('stored_at', 'is', null)
      .where('deployment_id', 'in', (query) =>
        query.selectFrom('deployments').select('id').where('deletion', '=', 'none'),
      )
      .returning('object_path')
      .executeTakeFirst();
    return noted !== undefined;
  },

  /** The paths of all stored tarballs, of any deployment: the files that must exist. */
  async stored(): Promise<string[]> {
    const rows = await db
      .selectFrom('uploads')
      .select('object_path')
      .where('stored_at', 'is not', null)
      .where('removed_at', 'is', null)
      .execute();
    return rows.map(({ object_path }) => object_path);
  },

  /** The tarballs stored before a time that no requested state, live revision or revision in progress names. */
  async spare(storedBefore: Date): Promise<string[]> {
    const rows = await db
      .selectFrom('uploads')
      .select(['object_path', 'deployment_id'])
      .where('stored_at', '<', storedBefore)
      .where('removed_at', 'is', null)
      .execute();
    if (rows.length === 0) return [];
    const owners = [...new Set(rows.map(({ deployment_id }) => deployment_id))];
    const deployments = await db
      .selectFrom('deployments')
      .select(['id', 'active_revision_id', 'source_revision_config'])
      .where('id', 'in', owners)
      .execute();
    const active = deployments.flatMap(({ active_revision_id }) => active_revision_id ?? []);
    const revisions = await db
      .selectFrom('revisions')
      .select('source_revision_config')
      .where('deployment_id', 'in', owners)
      .where((where) =>
        where.or([
          where('status', 'in', unfinishedStatuses),
          ...(active.length > 0 ? [where('id', 'in', active)] : []),
        ]),
      )
      .execute();
    const needed = new Set(
      [...deployments, ...revisions].map(({ source_revision_config }) => source_revision_config.source_tarball_path),
    );
    return rows.map(({ object_path }) => object_path).filter((path) => !needed.has(path));
  },

  /** Records that the file of an upload is removed: its path can't be used any more. */
  async noteRemoved(objectPath: string): Promise<void> {
    await db
      .updateTable('uploads')
      .set({ removed_at: new Date(clock.now()) })
      .where('object_path', '=', objectPath)
      .execute();
  },

  /** Deletes addresses that expired unused before a time. */
  async deleteUnused(expiredBefore: Date): Promise<void> {
    await db.deleteFrom('uploads').where('stored_at', 'is', null).where('expires_at', '<', expiredBefore).execute();
  },
});
export type UploadStore = ReturnType<typeof uploadStore>;
