import { randomUUID } from 'node:crypto';
import type { Context } from 'hono';
import type { FreeObject } from '../../../contract/agent/open-word.ts';
import { toPlainNumber } from '../../../kit/exact-number.ts';
import { isObject } from '../../../kit/json-object.ts';
import { readJson } from '../api/body.ts';
import { alreadyExists, noVersion } from '../refusal.ts';
import type { AccessTo } from './access.ts';
import { matches, narrow, type MetadataFilter } from './filters.ts';
import { callAuthHandler, assertMatchesFilter, resources, type AuthorizationContext } from './call-auth-handler.ts';
import { objectIn, readObject, rewriteBody } from './request-body.ts';

/** The fields that a handler may change. */
const changeable = ['metadata', 'config', 'context', 'name', 'description', 'payload', 'schedule'] as const;

function applyHandlerChanges(body: FreeObject, value: FreeObject): FreeObject {
  const fields = changeable.filter((field) => field in value && (field in body || field === 'metadata'));
  return { ...body, ...Object.fromEntries(fields.map((field) => [field, value[field]])) };
}

/** Authorizes creating an assistant or a thread, to which the handler may add metadata. Another user's id conflicts. */
export async function authorizeCreate(
  question: AuthorizationContext,
  { kind }: AccessTo<'create'>,
): Promise<undefined> {
  const body = await readObject(question.c);
  const field = `${kind}_id`;
  body[field] ??= randomUUID();
  const id = body[field];
  const value = { if_exists: 'raise', ...body, metadata: objectIn(body, 'metadata') };
  const filter = await callAuthHandler(question, resources[kind], 'create', value);
  const existing = filter === undefined || typeof id !== 'string' ? undefined : await question.find(kind, id);
  if (filter !== undefined && existing !== undefined && !matches(existing, filter)) {
    throw alreadyExists(kind === 'thread' ? 'Thread' : 'Assistant', String(id));
  }
  rewriteBody(question.c, applyHandlerChanges(body, value));
}

/** Authorizes searching and counting, narrowed to what the filter matches. Returns the response if nothing can match. */
export async function authorizeSearch(
  question: AuthorizationContext,
  { kind, counts }: AccessTo<'search'>,
): Promise<Response | undefined> {
  const { c } = question;
  const body = await readObject(c);
  const value: FreeObject = { ...body, metadata: objectIn(body, 'metadata'), ...(counts && { limit: 0, offset: 0 }) };
  const filter = await callAuthHandler(question, resources[kind], 'search', value);
  if (narrowBody(c, { ...body, metadata: value['metadata'] }, filter)) return undefined;
  return counts ? c.json(0) : c.json([], 200, { 'x-pagination-total': '0' });
}

/** Authorizes listing versions, of which older ones may be another owner's. Returns the response if none can match. */
export async function authorizeVersions(
  question: AuthorizationContext,
  { id }: AccessTo<'versions'>,
): Promise<Response | undefined> {
  const { c } = question;
  const filter = await callAuthHandler(question, 'assistants', 'read', { assistant_id: id });
  await assertMatchesFilter(question, filter, { kind: 'assistant', id });
  return narrowBody(c, await readObject(c), filter) ? undefined : c.json([]);
}

/** Narrows the requested metadata by the filter; false if they contradict each other. */
function narrowBody(c: Context, body: FreeObject, filter: MetadataFilter | undefined): boolean {
  const metadata = narrow(objectIn(body, 'metadata'), filter ?? {});
  if (metadata === undefined) return false;
  const { metadata: _, ...others } = body;
  rewriteBody(c, Object.keys(metadata).length === 0 ? others : { ...others, metadata });
  return true;
}

/** Authorizes access to one resource, or to a run on one thread. */
export async function authorizeResource(
  question: AuthorizationContext,
  { kind, id, runId, action, body: hasBody, version: hasVersion }: AccessTo<'one'>,
): Promise<undefined> {
  const body = hasBody === true ? await readObject(question.c) : {};
  const given = 'metadata' in body ? { metadata: objectIn(body, 'metadata') } : {};
  const value: FreeObject = {
    ...body,
    ...given,
    [`${kind}_id`]: id,
    ...(runId === undefined ? {} : { run_id: runId }),
    ...(action === 'update' && runId !== undefined ? { action: question.c.req.query('action') ?? 'interrupt' } : {}),
  };
  const filter = await callAuthHandler(question, resources[kind], action, value);
  await assertMatchesFilter(question, filter, { kind, id, runId });
  if (hasVersion === true) await assertVersionMatchesFilter(question, filter, { id, version: body['version'] });
  if (hasBody === true) rewriteBody(question.c, applyHandlerChanges(body, value));
}

/** @throws Refusal 404 if the caller may not see the version to activate, whose metadata may be of another owner. */
async function assertVersionMatchesFilter(
  { c, find }: AuthorizationContext,
  filter: MetadataFilter | undefined,
  named: { id: string; version: unknown },
): Promise<void> {
  const version = Number(toPlainNumber(named.version ?? c.req.query('version')));
  if (filter === undefined || !Number.isSafeInteger(version)) return;
  const metadata = await find('assistant', named.id, version);
  if (metadata !== undefined && !matches(metadata, filter)) throw noVersion(named.id, version);
}

/** Authorizes copying a thread: reading it, and creating one with its metadata and that of the body. */
export async function authorizeCopy(question: AuthorizationContext, { id }: AccessTo<'copy'>): Promise<undefined> {
  const filter = await callAuthHandler(question, 'threads', 'read', { thread_id: id });
  await assertMatchesFilter(question, filter, { kind: 'thread', id });
  const source = (await question.find('thread', id)) ?? {};
  const body = await readJson(question.c);
  const more = isObject(body) ? objectIn(body, 'metadata') : {};
  const value: FreeObject = { metadata: { ...source, ...more } };
  await callAuthHandler(question, 'threads', 'create', value);
  if (Object.keys(more).length === 0) return;
  const changed = Object.entries(objectIn(value, 'metadata')).filter(([key, its]) => its !== source[key]);
  rewriteBody(question.c, { metadata: Object.fromEntries(changed) });
}

/** Authorizes pruning: threads that the caller may not delete are skipped, like missing ones. */
export async function authorizePrune(question: AuthorizationContext): Promise<undefined> {
  const { c, find } = question;
  const body = await readObject(c);
  const ids: unknown[] = Array.isArray(body['thread_ids']) ? body['thread_ids'] : [];
  const kept: unknown[] = [];
  for (const id of ids) {
    const filter = await callAuthHandler(question, 'threads', 'delete', { thread_id: id });
    const metadata = filter === undefined || typeof id !== 'string' ? undefined : await find('thread', id);
    if (filter === undefined || metadata === undefined || matches(metadata, filter)) kept.push(id);
  }
  rewriteBody(c, { ...body, thread_ids: kept });
}
