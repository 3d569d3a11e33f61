import { sql } from 'kysely';
import type { FreeObject } from '../../contract/agent/open-word.ts';
import { isUuid } from '../assistants/assistant.ts';
import type { AssistantStore } from '../assistants/store.ts';
import type { Storage } from '../storage/open.ts';
import type { ThreadIsThere } from '../threads/over.ts';
import type { ThreadStore } from '../threads/store.ts';
import type { Kind } from './access.ts';

/** Finds the metadata of a thing, or of one version of an assistant; undefined where there is none. */
export type FindMetadata = (kind: Kind, id: string, version?: number) => Promise<FreeObject | undefined>;

/**
 * Metadata as the deployment's database has it.
 *
 * @param threadIsThere of which threads the time is not over: the others are not there, nor is what belongs to them.
 */
export function metadataIn(
  storage: Storage,
  assistants: Pick<AssistantStore, 'get'>,
  threads: Pick<ThreadStore, 'get'>,
  threadIsThere: ThreadIsThere,
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
    // The thread of a run that keeps nothing has no row: what the run brought speaks for it, also where somebody has made
    // a thread of that id since.
    const ofTemporary = sql<{ metadata: FreeObject }>`select metadata from runs
      where thread_id = ${id} and temporary and ${threadIsThere('runs')} order by sequence limit 1`;
    return (await first(ofTemporary)) ?? (await threads.get(id))?.metadata;
  };
}
