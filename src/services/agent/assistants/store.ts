import { sql, type Selectable, type SelectQueryBuilder } from 'kysely';
import { isUuid } from '../../../kit/uuid.ts';
import {
  firstVersion,
  pageBounds,
  type AssistantCount,
  type AssistantCreate,
  type AssistantPatch,
  type AssistantSearch,
  type AssistantVersionsSearch,
} from '../../../contract/agent/assistant.ts';
import type { FreeObject } from '../../../contract/agent/open-word.ts';
import type { Clock } from '../../../kit/clock.ts';
import type { Storage } from '../storage/open.ts';
import { storableJson, storableText } from '../../../kit/json-text.ts';
import type { AssistantVersionsTable, Tables } from '../storage/tables.ts';
import { defaultAssistantId, storedAssistant, type StoredAssistant } from './assistant.ts';
import { withDefaults, type DefaultSettings } from './default-settings.ts';

/** The values of a version of an assistant, without its number and time. */
export type VersionValues = Pick<
  StoredAssistant,
  'graph_id' | 'name' | 'description' | 'context' | 'config' | 'metadata'
>;

/**
 * Computes the next version of an assistant (section "States and transitions"). `context` and `config` replace the
 * previous value, `metadata` is merged key by key, and absent fields keep the value of the active version.
 */
export function nextVersion(active: VersionValues, patch: AssistantPatch): VersionValues {
  return {
    graph_id: patch.graph_id ?? active.graph_id,
    name: patch.name === undefined ? active.name : storableText(patch.name),
    description: patch.description === undefined ? active.description : storableText(patch.description),
    context: patch.context ?? active.context,
    config: patch.config ?? active.config,
    metadata: { ...active.metadata, ...patch.metadata },
  };
}

const defaultName = 'Untitled';

/**
 * The assistants of a deployment.
 * @param defaults what the environment gives the default assistants.
 */
export const assistantStore = (storage: Storage, clock: Clock, defaults: DefaultSettings = new Map()) => ({
  /** Creates the missing default assistants of this revision's graphs. */
  async ensureDefaults(graphs: readonly { graphId: string; description: string | undefined }[]): Promise<void> {
    for (const { graphId, description } of graphs) {
      await this.create(
        { graph_id: graphId, name: graphId, description: description ?? null, metadata: { created_by: 'system' } },
        defaultAssistantId(graphId),
      );
    }
  },

  async create(
    request: AssistantCreate,
    assistantId: string,
  ): Promise<{ kind: 'made' | 'there'; assistant: StoredAssistant }> {
    const now = new Date(clock.now());
    const values = {
      assistant_id: assistantId,
      version: firstVersion,
      graph_id: request.graph_id,
      name: storableText(request.name ?? defaultName),
      description: request.description == null ? null : storableText(request.description),
      context: JSON.stringify(request.context ?? {}),
      config: JSON.stringify(request.config ?? {}),
      metadata: storableJson(request.metadata ?? {}),
      created_at: now,
    };
    const made = await storage.db.transaction().execute(async (tx) => {
      const insert = tx.insertInto('assistants').values({ ...values, updated_at: now });
      const row = await insert
        .onConflict((on) => on.column('assistant_id').doNothing())
        .returningAll()
        .executeTakeFirst();
      if (row) await tx.insertInto('assistant_versions').values(values).execute();
      return row;
    });
    if (made) return { kind: 'made', assistant: withDefaults(made, defaults) };
    const there = await this.get(assistantId);
    return there ? { kind: 'there', assistant: there } : this.create(request, assistantId);
  },

  /** By uuid, or the default assistant of a graph by the graph's id. */
  async get(idOrGraph: string): Promise<StoredAssistant | undefined> {
    const { rows } = await storage.pool.query<StoredAssistant>({
      name: 'get-assistant',
      text: `select ${storedAssistant} from assistants where assistant_id = $1`,
      values: [isUuid(idOrGraph) ? idOrGraph : defaultAssistantId(idOrGraph)],
    });
    return rows.map((each) => withDefaults(each, defaults))[0];
  },

  /** Creates and activates the next version, numbered after the highest; undefined if the assistant does not exist. */
  async patch(assistantId: string, patch: AssistantPatch): Promise<StoredAssistant | undefined> {
    return storage.db.transaction().execute(async (tx) => {
      // The row lock serializes changes of an assistant, so that version numbers have no gaps.
      const active = await tx
        .selectFrom('assistants')
        .selectAll()
        .where('assistant_id', '=', assistantId)
        .forUpdate()
        .executeTakeFirst();
      if (!active) return undefined;
      const { newest } = await tx
        .selectFrom('assistant_versions')
        .select((of) => of.fn.max('version').as('newest'))
        .where('assistant_id', '=', assistantId)
        .executeTakeFirstOrThrow();
      const now = new Date(clock.now());
      const next = nextVersion(active, patch);
      const values = {
        ...next,
        context: JSON.stringify(next.context),
        config: JSON.stringify(next.config),
        metadata: storableJson(next.metadata),
        version: newest + 1,
      };
      await tx
        .insertInto('assistant_versions')
        .values({ ...values, assistant_id: assistantId, created_at: now })
        .execute();
      const update = tx.updateTable('assistants').set({ ...values, updated_at: now });
      return withDefaults(
        await update.where('assistant_id', '=', assistantId).returningAll().executeTakeFirstOrThrow(),
        defaults,
      );
    });
  },

  /** Activates an existing version with all its values; undefined if it does not exist. */
  async activate(assistantId: string, version: number): Promise<StoredAssistant | undefined> {
    const { rows } = await sql<StoredAssistant>`
      update assistants a
      set version = v.version, graph_id = v.graph_id, name = v.name, description = v.description, context = v.context,
        config = v.config, metadata = v.metadata, updated_at = ${new Date(clock.now())}
      from assistant_versions v
      where a.assistant_id = ${assistantId} and v.assistant_id = a.assistant_id and v.version = ${version}::bigint
      returning a.*`.execute(storage.db);
    return rows.map((each) => withDefaults(each, defaults))[0];
  },

  /** One page of an assistant's versions, newest first; empty if the assistant does not exist. */
  async versions(assistantId: string, request: AssistantVersionsSearch): Promise<Selectable<AssistantVersionsTable>[]> {
    const { metadata, limit = pageBounds.defaultLimit, offset = 0 } = request;
    let query = storage.db.selectFrom('assistant_versions').selectAll().where('assistant_id', '=', assistantId);
    if (metadata !== undefined) query = query.where(sql<boolean>`metadata @> ${storableJson(metadata)}::jsonb`);
    return query.orderBy('version', 'desc').limit(limit).offset(offset).execute();
  },

  /** One page of the matches, and their total. Newest first by default. */
  async search(request: AssistantSearch): Promise<{ assistants: StoredAssistant[]; total: number }> {
    const { sort_by: by = 'created_at', sort_order: direction = 'desc' } = request;
    const query = matching(storage.db.selectFrom('assistants').selectAll(), request)
      .orderBy(by === 'name' ? sql`lower(name)` : by, direction)
      .orderBy('assistant_id')
      .limit(request.limit ?? pageBounds.defaultLimit)
      .offset(request.offset ?? 0);
    const [assistants, total] = await Promise.all([query.execute(), this.count(request)]);
    return { assistants: assistants.map((each) => withDefaults(each, defaults)), total };
  },

  async count(request: AssistantCount): Promise<number> {
    const query = storage.db.selectFrom('assistants').select(sql<string>`count(*)`.as('count'));
    return Number((await matching(query, request).executeTakeFirstOrThrow()).count);
  },

  /** The threads whose metadata names an assistant: those on which it ran last. */
  async threadsOf(assistantId: string): Promise<{ thread_id: string; metadata: FreeObject }[]> {
    const named = storableJson({ assistant_id: assistantId });
    const query = storage.db.selectFrom('threads').select(['thread_id', 'metadata']);
    return query.where(sql<boolean>`metadata @> ${named}::jsonb`).execute();
  },

  /** Deletes an assistant with all its versions; false if it does not exist. */
  async delete(assistantId: string): Promise<boolean> {
    const query = storage.db.deleteFrom('assistants').where('assistant_id', '=', assistantId);
    return (await query.executeTakeFirstOrThrow()).numDeletedRows > 0n;
  },
});
export type AssistantStore = ReturnType<typeof assistantStore>;

function matching<O>(
  query: SelectQueryBuilder<Tables, 'assistants', O>,
  { metadata, graph_id, name }: AssistantCount,
): SelectQueryBuilder<Tables, 'assistants', O> {
  let narrowed = query;
  if (metadata !== undefined) narrowed = narrowed.where(sql<boolean>`metadata @> ${storableJson(metadata)}::jsonb`);
  if (graph_id !== undefined) narrowed = narrowed.where('graph_id', '=', storableText(graph_id));
  if (name !== undefined)
    narrowed = narrowed.where(sql<boolean>`strpos(lower(name), lower(${storableText(name)})) > 0`);
  return narrowed;
}
