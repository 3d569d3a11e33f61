import { randomUUID } from 'node:crypto';
import type { FreeObject } from '../../../contract/agent/open-word.ts';
import { isObject } from '../../../kit/json-object.ts';
import { Refusal, unacceptable } from '../refusal.ts';
import type { AccessTo } from './access.ts';
import { configurableOf, withoutClaims } from './caller.ts';
import { callAuthHandler, assertMatchesFilter, type AuthorizationContext } from './call-auth-handler.ts';
import { objectIn, readObject, readObjects, rewriteBody } from './request-body.ts';

/** The fields of a run request that a handler sees as the run's `kwargs`, and may change. */
const kwargFields = ['input', 'command', 'config', 'context', 'webhook', 'stream_mode'] as const;

/**
 * Authorizes one run; returns the request as it will run. The handler may add to its metadata and `kwargs`, but nothing
 * overrides the user in its `configurable`.
 */
export async function authorizeRunRequest(
  question: Pick<AuthorizationContext, 'auth' | 'user' | 'find'>,
  request: FreeObject,
  threadId: string | undefined,
): Promise<FreeObject> {
  const body: FreeObject = { ...withUser(question, request), metadata: objectIn(request, 'metadata') };
  const kwargs: FreeObject = Object.fromEntries(kwargFields.flatMap((key) => (key in body ? [[key, body[key]]] : [])));
  const value: FreeObject = {
    thread_id: threadId ?? null,
    assistant_id: body['assistant_id'],
    run_id: randomUUID(),
    status: 'pending',
    metadata: body['metadata'],
    multitask_strategy: body['multitask_strategy'] ?? null,
    prevent_insert_if_inflight: body['multitask_strategy'] === 'reject',
    if_not_exists: body['if_not_exists'] ?? 'reject',
    after_seconds: body['after_seconds'] ?? 0,
    kwargs,
  };
  const filter = await callAuthHandler(question, 'threads', 'create_run', value);
  if (threadId !== undefined) await assertMatchesFilter(question, filter, { kind: 'thread', id: threadId });
  const changed = isObject(value['kwargs']) ? value['kwargs'] : {};
  return { ...withUser(question, { ...body, ...changed }), metadata: value['metadata'] };
}

/** Authorizes a run, on a thread or stateless. */
export async function authorizeRun(question: AuthorizationContext, { threadId }: AccessTo<'run'>): Promise<undefined> {
  rewriteBody(question.c, await authorizeRunRequest(question, await readObject(question.c), threadId));
}

/** Authorizes each run of a batch of stateless runs. */
export async function authorizeRuns(question: AuthorizationContext): Promise<undefined> {
  const requested: FreeObject[] = [];
  for (const request of await readObjects(question.c))
    requested.push(await authorizeRunRequest(question, request, undefined));
  rewriteBody(question.c, requested);
}

/** Authorizes cancelling several runs. With a filter, the runs must be of one thread. */
export async function authorizeCancel(question: AuthorizationContext): Promise<undefined> {
  const body = await readObject(question.c);
  const { thread_id: threadId, run_ids, status } = body;
  const value = {
    thread_id: threadId,
    action: question.c.req.query('action') ?? 'interrupt',
    metadata: { run_ids, status },
  };
  const filter = await callAuthHandler(question, 'threads', 'update', value);
  if (filter !== undefined && typeof threadId !== 'string') {
    const reason = "is required: this agent's authorization rules do not allow cancelling across threads";
    throw unacceptable('thread_id', reason);
  }
  if (typeof threadId === 'string') await assertMatchesFilter(question, filter, { kind: 'thread', id: threadId });
  rewriteBody(question.c, body);
}

/** Authorizes listing deliveries of webhooks. With a filter, they must be of one run, which the filter must match. */
export async function authorizeDeliveries(question: AuthorizationContext): Promise<undefined> {
  const runId = question.c.req.query('run_id');
  const filter = await callAuthHandler(question, 'threads', 'search', runId === undefined ? {} : { run_id: runId });
  if (filter === undefined) return;
  if (runId === undefined) {
    const reason = "is required: this agent's authorization rules do not allow listing the webhooks of all runs";
    throw unacceptable('run_id', reason);
  }
  await assertMatchesFilter(question, filter, { kind: 'run', id: runId });
}

/** Authorizes listing the unfinished runs of all threads: only for callers that may search all of them. */
export async function authorizeUnfinishedRuns(question: AuthorizationContext): Promise<undefined> {
  const filter = await callAuthHandler(question, 'threads', 'search', {});
  if (filter === undefined) return;
  const detail =
    "This agent's authorization rules do not allow listing runs across threads. List the runs of a thread.";
  throw new Refusal(403, detail);
}

/** Authorizes a cron and its future runs, whose `configurable` names the cron's creator. */
export async function authorizeCron(
  question: AuthorizationContext,
  { threadId }: AccessTo<'cron'>,
): Promise<undefined> {
  const body = await readObject(question.c);
  const { schedule, end_time, timezone, enabled, on_run_completed, metadata, ...payload } = await authorizeRunRequest(
    question,
    body,
    threadId,
  );
  const value: FreeObject = {
    cron_id: randomUUID(),
    thread_id: threadId ?? null,
    user_id: question.user.identity,
    schedule,
    end_time,
    timezone,
    metadata: objectIn({ metadata }, 'metadata'),
    payload,
  };
  await callAuthHandler(question, 'crons', 'create', value);
  rewriteBody(question.c, {
    ...withUser(question, isObject(value['payload']) ? value['payload'] : payload),
    ...withoutUndefined({ end_time, timezone, enabled, on_run_completed }),
    schedule: value['schedule'],
    metadata: value['metadata'],
  });
}

/** Sets the user in a request's `configurable`, overriding any value of the client. */
function withUser({ user }: Pick<AuthorizationContext, 'user'>, request: FreeObject): FreeObject {
  const config = objectIn(request, 'config');
  const configurable = { ...withoutClaims(objectIn(config, 'configurable')), ...configurableOf(user) };
  return { ...request, config: { ...config, configurable } };
}

const withoutUndefined = (fields: FreeObject): FreeObject =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
