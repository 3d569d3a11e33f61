import { sql } from 'kysely';
import { isUuid } from '../../../kit/uuid.ts';
import type { FreeObject } from '../../../contract/agent/open-word.ts';
import type { AssistantStore } from '../assistants/store.ts';
import type { Storage } from '../storage/open.ts';
import type { LiveThreadCondition } from '../threads/lifetime.ts';
import type { ThreadStore } from '../threads/store.ts';
import type { Kind } from './access.ts';

/** Finds the metadata of a resource, or of one version of an assistant; undefined if it does not exist. */
export type FindMetadata = (kind: Kind, id: string, version?: number) => Promise<FreeObject | undefined>;

/** Reads metadata from the database. @param threadIsThere excludes expired threads with all that belongs to them. */
export function createMetadataFinder(
  storage: Storage,
  assistants: Pick<AssistantStore, 'get'>,
  threads: Pick<ThreadStore, 'get'>,
  threadIsThere: LiveThreadCondition,
): FindMetadata {
  const first = async (query: ReturnType<typeof sql<{ metadata: FreeObject }>>): Promise<FreeObject | undefined> =>
    (await query.execute(storage.db)).rows[0]?.metadata;
  return async (kind, id, version) => {
    if (kind === 'assistant') {
      const assistant = await assistants.get(id);
      if (version === undefined || !assistant) return assistant?.metadata;
      return first(sql`select metadata from assistant_versions
        where assistant_id = ${assistant.assistant_id} and version = ${version}::bigint`);
    }
    if (!isUuid(id)) return undefined;
    if (kind === 'run') {
      return first(sql`select case when temporary then runs.metadata else coalesce(threads.metadata, runs.metadata) end as metadata
        from runs left join threads using (thread_id) where run_id = ${id} and ${threadIsThere('runs')}`);
    }
    if (kind === 'cron')
      return first(sql`select metadata from crons where cron_id = ${id} and ${threadIsThere('crons')}`);
    // A temporary run's thread has no row, so the run's own metadata counts, even if a thread with that id was created
    // since.
    const ofTemporary = sql<{ metadata: FreeObject }>`select metadata from runs
      where thread_id = ${id} and temporary and ${threadIsThere('runs')} order by sequence limit 1`;
    return (await first(ofTemporary)) ?? (await threads.get(id))?.metadata;
  };
}
