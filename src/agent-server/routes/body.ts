import type { Context } from 'hono';
import * as z from 'zod';
import { isUuid } from '../assistants/assistant.ts';
import { Refusal } from '../refusal.ts';
import { problemsOf } from './field-problems.ts';
import { MOST_DEPTH, nestsDeeper } from './nesting.ts';

/**
 * The body of a request, held to a schema of the contract. No body counts as `{}`, a null as if the field were
 * absent; so in each item of a list.
 *
 * @param schema one that strips unknown fields: callers of public servers send some.
 * @param saysNull the fields of which a null says something.
 * @throws Refusal 400 for what is no JSON, 422 with every field that is wrong.
 */
export async function readBody<T>(c: Context, schema: z.ZodType<T>, saysNull: readonly string[] = []): Promise<T> {
  const parsed = schema.safeParse(withoutNulls(await readJson(c), saysNull));
  if (!parsed.success) throw new Refusal(422, problemsOf(parsed.error, 'body'));
  return parsed.data;
}

/** The largest body (bytes) that is read. */
export const MOST_BYTES = 16 * 1024 * 1024;

/** What the body of a request says, as JSON; none counts as `{}`. Throws a Refusal 400 for what is no JSON. */
export async function readJson(c: Context): Promise<unknown> {
  const text = await readText(c);
  if (text.trim() === '') return {};
  if (nestsDeeper(text))
    throw new Refusal(422, [{ loc: ['body'], msg: `nests deeper than ${MOST_DEPTH} levels`, type: 'value_error' }]);
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) throw new Refusal(400, 'The body is not JSON.');
    throw error;
  }
}

/** A body that says its length is held to it by the server; one that does not is counted as it comes. */
export async function readText(c: Context): Promise<string> {
  const said = c.req.header('content-length');
  if (said !== undefined) {
    if (Number(said) > MOST_BYTES) throw tooLarge();
    return c.req.text();
  }
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of c.req.raw.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > MOST_BYTES) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

const tooLarge = (): Refusal => new Refusal(413, `The body is larger than ${MOST_BYTES} bytes.`);

/** The query of a request, held to a schema. */
export function readQuery<T>(c: Context, schema: z.ZodType<T>): T {
  const parsed = schema.safeParse(c.req.query());
  if (!parsed.success) throw new Refusal(422, problemsOf(parsed.error, 'query'));
  return parsed.data;
}

/** A list in the query, its items each a parameter of the same name or parted by commas; undefined where there is none. */
export function readList<T>(c: Context, name: string, schema: z.ZodType<T>): T {
  const items = c.req
    .queries(name)
    ?.flatMap((value) => value.split(','))
    .filter((item) => item !== '');
  const parsed = schema.safeParse(items?.length === 0 ? undefined : items);
  if (parsed.success) return parsed.data;
  throw new Refusal(
    422,
    problemsOf(parsed.error, 'query').map((problem) => ({ ...problem, loc: ['query', name, ...problem.loc.slice(1)] })),
  );
}

/** A uuid of the path, in small letters. */
export function pathId(c: Context, name: 'thread_id' | 'run_id' | 'cron_id'): string {
  const id = c.req.param(name) ?? '';
  if (!isUuid(id)) throw new Refusal(422, [{ loc: ['path', name], msg: 'must be a uuid', type: 'uuid' }]);
  return id.toLowerCase();
}

/** `1`, `true`, and their opposites, as queries spell them. */
export const flag = z
  .enum(['1', '0', 'true', 'false', ''])
  .optional()
  .transform((word) => word === '1' || word === 'true');

function withoutNulls(body: unknown, saysNull: readonly string[]): unknown {
  if (Array.isArray(body)) return body.map((item: unknown) => withoutNulls(item, saysNull));
  if (typeof body !== 'object' || body === null) return body;
  return Object.fromEntries(Object.entries(body).filter(([name, value]) => value !== null || saysNull.includes(name)));
}
