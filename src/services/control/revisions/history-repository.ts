import type * as z from 'zod';
import type { revisionHistoryQuery } from '../../../contract/control/revision-history.ts';
import type { ControlDatabase, RevisionEvent, RevisionRecord } from '../store/tables.ts';

/** A revision, and the one before it in its deployment. */
export interface RevisionWithBefore {
  revision: RevisionRecord;
  before: RevisionRecord | undefined;
}

export const historyStore = (db: ControlDatabase) => ({
  /** A page of a deployment's revisions, newest first, each with the one before it. */
  async listHistory(
    deploymentId: string,
    { limit = 20, offset = 0, revision_id }: z.infer<typeof revisionHistoryQuery>,
  ): Promise<RevisionWithBefore[]> {
    const size = revision_id === undefined ? limit : Math.max(0, 1 - offset);
    let select = db.selectFrom('revisions').selectAll().where('deployment_id', '=', deploymentId);
    if (revision_id !== undefined) {
      select = select.where('sequence', '<=', (query) =>
        query
          .selectFrom('revisions')
          .select('sequence')
          .where('id', '=', revision_id)
          .where('deployment_id', '=', deploymentId),
      );
    }
    const found = await select
      .orderBy('sequence', 'desc')
      .limit(size + 1)
      .offset(revision_id === undefined ? offset : 0)
      .execute();
    return found.slice(0, size).map((revision, at) => ({ revision, before: found[at + 1] }));
  },

  /** Every status of these revisions, oldest first. */
  async eventsOfAll(revisionIds: readonly string[]): Promise<RevisionEvent[]> {
    if (revisionIds.length === 0) return [];
    return db.selectFrom('revision_events').selectAll().where('revision_id', 'in', revisionIds).orderBy('id').execute();
  },
});
