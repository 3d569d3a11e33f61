import type { Context } from 'hono';
import * as z from 'zod';
import { pageBounds } from '../../../contract/agent/assistant.ts';
import { toPlainNumber, isExactNumber, mayContainExactNumber, parseExactly } from '../../../kit/exact-number.ts';
import { isObject } from '../../../kit/json-object.ts';
import { fromJson } from '../../../kit/json-text.ts';
import { readBounded } from '../../../kit/read-bounded.ts';
import { isUuid } from '../../../kit/uuid.ts';
import { invalidAt, Refusal } from '../refusal.ts';
import { problemsOf } from './field-problems.ts';

/**
 * Validates the request body by a schema of the contract. An empty body counts as `{}`. Null fields count as absent, also
 * those of each item of a list. For graphs in Python, fields of any type keep their numbers as they were written.
 *
 * @param schema strips unknown fields: clients of public servers send some.
 * @param nullable the fields in which null differs from absent.
 * @throws Refusal 400 for invalid JSON, 413 if it is too large, 422 with every invalid field.
 */
export async function readBody<T>(c: Context, schema: z.ZodType<T>, nullable: readonly string[] = []): Promise<T> {
  const json = await readJsonText(c);
  const read = parse(schema, withoutNulls(parseJson(json), nullable), ['body']);
  return keepsNumbers(c) ? withExactNumbers(schema, json, read, (value) => withoutNulls(value, nullable)) : read;
}

const keepsNumbers = (c: Context): boolean => c.get('keepsNumbers') === true;

/** @param at the place of the value in the request. */
function parse<T>(schema: z.ZodType<T>, value: unknown, at: readonly string[]): T {
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw new Refusal(422, problemsOf(parsed.error, at));
  return parsed.data;
}

/** Validates a JSON text again with exact numbers, if it has any. @param prepare what was done to the value before. */
export const withExactNumbers = <T>(
  schema: z.ZodType<T>,
  json: string,
  plainResult: T,
  prepare = (value: unknown): unknown => value,
): T => (mayContainExactNumber(json) ? validateExactly(schema, prepare(parseExactly(json)), plainResult) : plainResult);

/**
 * Validates with exact numbers in fields of any type, and plain ones in number fields; `plainResult` where impossible.
 * @param plainResult the schema's output for the same value with plain numbers.
 */
export function validateExactly<T>(schema: z.ZodType<T>, value: unknown, plainResult: T): T {
  let parsed = schema.safeParse(value);
  if (!parsed.success && parsed.error.issues.length <= maxConversions) {
    // Number fields reject exact numbers.
    const paths = parsed.error.issues.map(({ path }) => path);
    parsed = schema.safeParse(paths.reduce<unknown>(withPlainNumberAt, value));
  }
  return parsed.success && differsOnlyInNumbers(parsed.data, plainResult) ? parsed.data : plainResult;
}

/** The most number fields to convert, each of which copies a part of the body. */
const maxConversions = 20;

function withPlainNumberAt(value: unknown, [name, ...rest]: readonly PropertyKey[]): unknown {
  if (name === undefined) return toPlainNumber(value);
  if (Array.isArray(value)) return value.with(Number(name), withPlainNumberAt(value[Number(name)], rest));
  return isObject(value) && Object.hasOwn(value, name)
    ? { ...value, [name]: withPlainNumberAt(Reflect.get(value, name), rest) }
    : value;
}

/** Whether two results are equal but for exact numbers, which a schema for objects would turn into objects. */
function differsOnlyInNumbers(exact: unknown, plain: unknown): boolean {
  if (isExactNumber(exact)) return toPlainNumber(exact) === plain;
  if (Array.isArray(exact))
    return (
      Array.isArray(plain) &&
      exact.length === plain.length &&
      exact.every((each, at) => differsOnlyInNumbers(each, plain[at]))
    );
  if (!isObject(exact) || !isObject(plain)) return Object.is(exact, plain);
  const names = Object.keys(exact);
  return (
    names.length === Object.keys(plain).length && names.every((name) => differsOnlyInNumbers(exact[name], plain[name]))
  );
}

/** The largest body (bytes). */
export const maxBodyBytes = 16 * 1024 * 1024;

/** Parses the body as JSON without validation, with exact numbers for Python. @throws Refusal as `readBody`. */
export const readJson = async (c: Context): Promise<unknown> =>
  parseJson(await readJsonText(c), keepsNumbers(c) ? parseExactly : undefined);

async function readJsonText(c: Context): Promise<string> {
  const text = await readText(c);
  if (nestsDeeper(text)) throw invalidAt(['body'], `nests deeper than ${maxDepth} levels`);
  return text.trim() === '' ? '{}' : text;
}

function parseJson(json: string, how?: (json: string) => unknown): unknown {
  const value = fromJson(json, how);
  if (value === undefined) throw new Refusal(400, 'The body is not JSON.');
  return value;
}

/** The HTTP server checks a body with a `Content-Length`; any other is counted while it is read. */
export async function readText(c: Context): Promise<string> {
  const said = c.req.header('content-length');
  if (said !== undefined) {
    if (Number(said) > maxBodyBytes) throw tooLarge();
    return c.req.text();
  }
  const bytes = await readBounded(c.req.raw.body ?? [], maxBodyBytes);
  if (!bytes) throw tooLarge();
  return bytes.toString('utf8');
}

const tooLarge = (): Refusal => new Refusal(413, `The body is larger than ${maxBodyBytes} bytes.`);

/** Parses the query of a request by a schema. */
export const readQuery = <T>(c: Context, schema: z.ZodType<T>): T => parse(schema, c.req.query(), ['query']);

/** A list in the query: repeated parameters, separated by commas, or JSON (SDKs up to 1.11.2); undefined if absent. */
export function readList<T>(c: Context, name: string, schema: z.ZodType<T>): T {
  const items = c.req
    .queries(name)
    ?.flatMap((value) => listInJson(value) ?? value.split(','))
    .filter((item) => item !== '');
  return parse(schema, items?.length === 0 ? undefined : items, ['query', name]);
}

function listInJson(value: string): unknown[] | undefined {
  const list = value.startsWith('[') ? fromJson(value) : undefined;
  return Array.isArray(list) ? list : undefined;
}

/** A uuid of the path, in lower case. */
export function pathId(c: Context, name: 'thread_id' | 'run_id' | 'cron_id' | 'delivery_id' | 'checkpoint_id'): string {
  const id = c.req.param(name) ?? '';
  if (!isUuid(id)) throw new Refusal(422, [{ loc: ['path', name], msg: 'must be a uuid', type: 'uuid' }]);
  return id.toLowerCase();
}

/** The size of a page in a query. */
export const pageLimit = (max: number = pageBounds.maxLimit) =>
  z.coerce.number().int().min(pageBounds.minLimit).max(max).default(pageBounds.defaultLimit);

/** A boolean in a query: `1`, `true` and their opposites. */
export const flag = z
  .enum(['1', '0', 'true', 'false', ''])
  .optional()
  .transform((word) => word === '1' || word === 'true')
  .meta({
    override: ({ jsonSchema }) => {
      delete jsonSchema.enum;
      Object.assign(jsonSchema, { type: 'boolean', default: false });
    },
  });

function withoutNulls(body: unknown, saysNull: readonly string[]): unknown {
  if (Array.isArray(body)) return body.map((item: unknown) => withoutNulls(item, saysNull));
  if (!isObject(body)) return body;
  return Object.fromEntries(Object.entries(body).filter(([name, value]) => value !== null || saysNull.includes(name)));
}

/** The deepest nesting of a body: more than any graph needs, less than the stack or the database supports. */
const maxDepth = 1000;

const [QUOTE, BACKSLASH] = [0x22, 0x5c];
const opening = new Set([0x5b, 0x7b]);
const closing = new Set([0x5d, 0x7d]);

/** Whether JSON nests deeper than `most` levels. Checks the text, before any recursion into the value. */
export function nestsDeeper(json: string, max = maxDepth): boolean {
  // Each level takes at least two characters.
  if (json.length <= 2 * max) return false;
  let depth = 0;
  let isText = false;
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) isText = !isText;
    else if (isText && code === BACKSLASH) at += 1;
    else if (!isText && opening.has(code)) depth += 1;
    else if (!isText && closing.has(code)) depth -= 1;
    if (depth > max) return true;
  }
  return false;
}
