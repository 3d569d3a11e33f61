import * as z from 'zod';

/** JSON Schema as far as fields and words are looked at. */
export interface Schema {
  $ref?: string | undefined;
  anyOf?: Schema[] | undefined;
  oneOf?: Schema[] | undefined;
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
    oneOf: z.array(schema).optional(),
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
