import * as z from 'zod';
import { configReply, runConfigRequest, freeObject } from './open-word.ts';

/**
 * The namespace in which a graph id becomes the uuid (version 5) of the graph's default assistant.
 * Section "Assistant", rule 1 promises the default assistant; the public servers share this way to name it.
 */
export const defaultAssistantNamespace = '6ba7b821-9dad-11d1-80b4-00c04fd430c8';

/** Page bounds of every search of the server; section "Limits" leaves the default page size open. */
export const pageBounds = { defaultLimit: 10, minLimit: 1, maxLimit: 1000 } as const;

/** The page of a search. */
export const page = {
  limit: z.int().min(pageBounds.minLimit).max(pageBounds.maxLimit).optional(),
  offset: z.int().min(0).optional(),
};

/** The number of the first version of an assistant; every update makes the next integer (section "Versioning"). */
export const firstVersion = 1;

/** What to do if the id to create exists: respond with 409, or with the existing one. */
export const ifExists = ['raise', 'do_nothing'] as const;

/**
 * An assistant in a response (section "Assistant"). Parsed leniently: the specification lists the id, the graph, the
 * name, the context, the metadata and both times; `config` comes with search (rule 4), `version` and `description` are
 * other fields that exist.
 */
export const assistantSchema = z.looseObject({
  assistant_id: z.string(),
  graph_id: z.string(),
  name: z.string().nullish(),
  context: freeObject.nullish(),
  metadata: freeObject.nullish(),
  created_at: z.string(),
  updated_at: z.string(),
  config: configReply,
  version: z.int().nullish(),
  description: z.string().nullish(),
});
export type Assistant = z.infer<typeof assistantSchema>;

/** Body of `POST /assistants` (section "Endpoints"): only the graph is required. */
export const assistantCreate = z.strictObject({
  graph_id: z.string().min(1),
  assistant_id: z.uuid().optional(),
  name: z.string().optional(),
  description: z.string().nullable().optional(),
  context: freeObject.optional(),
  config: runConfigRequest.optional(),
  metadata: freeObject.optional(),
  if_exists: z.enum(ifExists).optional(),
});
export type AssistantCreate = z.infer<typeof assistantCreate>;

/**
 * Body of `PATCH /assistants/{assistant_id}` (section "States and transitions"): `context` is the entire configuration
 * to keep, nothing is merged from older versions; `metadata` is merged. Makes version N+1 and activates it.
 */
export const assistantPatch = assistantCreate.omit({ assistant_id: true, if_exists: true }).extend({
  graph_id: assistantCreate.shape.graph_id.optional(),
  description: z.string().optional(),
});
export type AssistantPatch = z.infer<typeof assistantPatch>;

/** A version in a list of `POST /assistants/{assistant_id}/versions`. It never changes: its two times are the same. */
export const assistantVersion = assistantSchema.extend({ version: z.int(), updated_at: z.string().nullish() });
export type AssistantVersion = z.infer<typeof assistantVersion>;

/** Body of `POST /assistants/{assistant_id}/latest`: the version that becomes the active one. */
export const assistantVersionChange = z.strictObject({ version: z.int().min(firstVersion) });
export type AssistantVersionChange = z.infer<typeof assistantVersionChange>;

export const assistantSortFields = ['assistant_id', 'created_at', 'updated_at', 'name', 'graph_id'] as const;

export const assistantFields = assistantSchema.keyof().options;

export const sortOrders = ['asc', 'desc'] as const;

/**
 * Body of `POST /assistants/search` (section "Endpoints"): `metadata` matches key by key, `name` is a part of the name
 * whatever its letters' case. Paged with `limit` and `offset`; the header `x-pagination-total` carries the count.
 */
export const assistantSearch = z.strictObject({
  metadata: freeObject.optional(),
  graph_id: z.string().optional(),
  name: z.string().optional(),
  ...page,
  sort_by: z.enum(assistantSortFields).optional(),
  sort_order: z.enum(sortOrders).optional(),
  select: z.array(z.enum(assistantFields)).optional(),
});
export type AssistantSearch = z.infer<typeof assistantSearch>;

/** Body of `POST /assistants/count`: the filters of a search. The answer is a bare integer. */
export const assistantCount = assistantSearch.pick({ metadata: true, graph_id: true, name: true });
export type AssistantCount = z.infer<typeof assistantCount>;

/** Body of `POST /assistants/{assistant_id}/versions`: the versions, newest first. */
export const assistantVersionsSearch = assistantSearch.pick({ metadata: true, limit: true, offset: true });
export type AssistantVersionsSearch = z.infer<typeof assistantVersionsSearch>;

/** The JSON schemas of a graph (`GET /assistants/{assistant_id}/schemas`); unknown ones are absent. */
export const graphSchemas = z.looseObject({
  graph_id: z.string(),
  input_schema: freeObject.nullish(),
  output_schema: freeObject.nullish(),
  state_schema: freeObject.nullish(),
  config_schema: freeObject.nullish(),
  context_schema: freeObject.nullish(),
});
export type GraphSchemas = z.infer<typeof graphSchemas>;

/** The drawing of a graph (`GET /assistants/{assistant_id}/graph`). */
export const graphDrawing = z.looseObject({
  nodes: z.array(
    z.looseObject({
      id: z.union([z.string(), z.int()]),
      type: z.string().optional(),
      data: z.unknown().optional(),
    }),
  ),
  edges: z.array(
    z.looseObject({
      source: z.union([z.string(), z.int()]),
      target: z.union([z.string(), z.int()]),
      data: z.unknown().optional(),
      conditional: z.boolean().optional(),
    }),
  ),
});
export type GraphDrawing = z.infer<typeof graphDrawing>;

/** Whether an assistant is a graph's default one, which can't be deleted. */
export const isDefaultAssistant = ({ metadata }: Pick<Assistant, 'metadata'>): boolean =>
  metadata?.['created_by'] === 'system';
