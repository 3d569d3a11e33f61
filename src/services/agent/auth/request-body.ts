import type { Context } from 'hono';
import type { FreeObject } from '../../../contract/agent/open-word.ts';
import { isObject } from '../../../kit/json-object.ts';
import { invalidAt, unacceptable } from '../refusal.ts';
import { readJson } from '../api/body.ts';

/** Reads the body of a request. @throws Refusal where it is not an object, which can't be authorized. */
export async function readObject(c: Context): Promise<FreeObject> {
  const body = await readJson(c);
  if (!isObject(body)) throw invalidAt(['body'], 'must be an object');
  return body;
}

/** Reads the body of a request, which must be a list of objects. */
export async function readObjects(c: Context): Promise<FreeObject[]> {
  const body = await readJson(c);
  if (!Array.isArray(body) || !body.every(isObject)) throw invalidAt(['body'], 'must be a list of objects');
  return body;
}

/** Replaces the body that the routes read. */
export function rewriteBody(c: Context, body: unknown): void {
  rewriteRequest(c, new URL(c.req.url), JSON.stringify(body));
}

/** Replaces the query that the routes read. */
export function rewriteQuery(c: Context, query: URLSearchParams): void {
  const url = new URL(c.req.url);
  url.search = query.toString();
  rewriteRequest(c, url, undefined);
}

function rewriteRequest(c: Context, url: URL, body: string | undefined): void {
  const { method, signal } = c.req.raw;
  const headers = new Headers(c.req.raw.headers);
  if (body !== undefined) {
    headers.set('content-type', 'application/json');
    headers.set('content-length', String(Buffer.byteLength(body)));
  }
  c.req.raw = new Request(url, { method, headers, signal, ...(body === undefined ? {} : { body }) });
  c.req.bodyCache = {};
}

/** An object within a body; absent and null count as empty. @throws Refusal for any other value. */
export function objectIn(body: FreeObject, field: string): FreeObject {
  const value = body[field];
  if (value === undefined || value === null) return {};
  if (!isObject(value)) throw unacceptable(field, 'must be an object');
  return value;
}
