import * as z from 'zod';

const content = z.record(z.string(), z.object({ schema: z.unknown(), example: z.unknown().optional() }));

const described = z.object({
  summary: z.string(),
  description: z.string().default(''),
  tags: z.array(z.string()),
  'x-aliases': z.array(z.string()).default([]),
  security: z.array(z.record(z.string(), z.array(z.string()))).default([]),
  parameters: z
    .array(
      z.object({
        name: z.string(),
        in: z.string(),
        required: z.boolean().default(false),
        description: z.string().default(''),
        schema: z.unknown(),
      }),
    )
    .default([]),
  requestBody: z.object({ content }).optional(),
  responses: z.record(z.string(), z.object({ description: z.string(), content: content.optional() })),
});

/** An operation of an OpenAPI document, as far as the guide shows it. */
export interface Operation {
  method: string;
  path: string;
  summary: string;
  description: string;
  tags: readonly string[];
  aliases: readonly string[];
  /** The scopes of a key; empty where any key does, undefined where none is needed. */
  scopes: string | undefined;
  parameters: readonly { name: string; place: string; required: boolean; description: string; schema: unknown }[];
  body: { type: string; schema: unknown; example: unknown } | undefined;
  responses: readonly { status: string; description: string; type: string | undefined; schema: unknown }[];
}

/** Reads an operation. @throws ZodError where the document has another form. */
export function operationOf(method: string, path: string, operation: unknown): Operation {
  const { summary, description, tags, security, parameters, requestBody, responses, ...rest } =
    described.parse(operation);
  const [body] = Object.entries(requestBody?.content ?? {});
  const [first] = security;
  return {
    method: method.toUpperCase(),
    path,
    summary,
    description,
    tags,
    aliases: rest['x-aliases'],
    scopes: first === undefined ? undefined : [...new Set(Object.values(first).flat())].join(' '),
    parameters: parameters.map(({ in: place, ...parameter }) => ({ place, ...parameter, schema: parameter.schema })),
    body: body === undefined ? undefined : { type: body[0], schema: body[1].schema, example: body[1].example },
    responses: Object.entries(responses).map(([status, { description, content }]) => {
      const [shown] = Object.entries(content ?? {});
      const [type, schema] = shown === undefined ? [] : [shown[0], shown[1].schema];
      return { status, description, type, schema: type === 'application/json' ? schema : undefined };
    }),
  };
}
