import type { RevisionStatus } from '../../contract/control/revision-status.ts';
import type { ControlDatabase, RevisionEvent } from './tables.ts';

/** Records a revision's new status. */
export async function recordEvent(
  trx: ControlDatabase,
  at: Date,
  revisionId: string,
  status: RevisionStatus,
  message: string | null = null,
): Promise<void> {
  await trx.insertInto('revision_events').values({ revision_id: revisionId, status, message, at }).execute();
}

/** Every status of a revision, oldest first. */
export async function eventsOf(db: ControlDatabase, revisionId: string): Promise<RevisionEvent[]> {
  return db.selectFrom('revision_events').selectAll().where('revision_id', '=', revisionId).orderBy('id').execute();
}
