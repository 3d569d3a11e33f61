import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';

const data = join(import.meta.dirname, '../../data/public-control-plane');
const read = (file: string): unknown => JSON.parse(readFileSync(join(data, file), 'utf8'));

/** JSON Schema as far as fields and words are looked at. */
export interface Schema {
  $ref?: string | undefined;
  anyOf?: Schema[] | undefined;
  enum?: unknown[] | undefined;
  const?: unknown;
  items?: Schema | undefined;
  properties?: Record<string, Schema> | undefined;
  required?: string[] | undefined;
}
export const schema: z.ZodType<Schema> = z.lazy(() =>
  z.looseObject({
    $ref: z.string().optional(),
    anyOf: z.array(schema).optional(),
    enum: z.array(z.unknown()).optional(),
    const: z.unknown().optional(),
    items: schema.optional(),
    properties: z.record(z.string(), schema).optional(),
    required: z.array(z.string()).optional(),
  }),
);

const operation = z.looseObject({
  operationId: z.string(),
  parameters: z
    .array(z.looseObject({ name: z.string(), in: z.string(), required: z.boolean().optional(), schema }))
    .default([]),
  requestBody: z
    .looseObject({ content: z.record(z.string(), z.looseObject({ schema: schema.optional() })) })
    .optional(),
  responses: z.record(
    z.string(),
    z.looseObject({ content: z.record(z.string(), z.looseObject({ schema: schema.optional() })).optional() }),
  ),
});

/** A description in OpenAPI, as far as paths, fields and words are looked at. */
export const openApi = z.looseObject({
  info: z.looseObject({ version: z.string() }),
  paths: z.record(z.string(), z.record(z.string(), operation)),
  components: z.looseObject({ schemas: z.record(z.string(), schema) }),
});
export type OpenApi = z.infer<typeof openApi>;

const names = z.array(z.string());

/** The public service's description. */
export const publicDocument = openApi.parse(read('openapi.json'));
/** What newer public clients use beside it. */
export const addenda = z
  .object({
    endpoints: z.array(
      z.object({ method: z.string(), path: z.string(), query: names.default([]), confidence: z.string() }),
    ),
    deployment_fields: names,
    revision_fields: names,
    source_revision_config_fields: names,
    list_deployments_query: names,
    create_fields: names,
    patch_fields: names,
    enums: z.object({
      source: names,
      deployment_type: names,
      deployment_status: names,
      revision_status: names,
    }),
  })
  .parse(read('addenda.json'));
