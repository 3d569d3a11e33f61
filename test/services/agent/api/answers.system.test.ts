import { randomUUID } from 'node:crypto';
import { Validator } from '@cfworker/json-schema';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { openApiDocument } from '../../../../src/services/agent/api/document.ts';
import { fromJson } from '../../../../src/kit/json-text.ts';
import { serveAgent } from '../serving.ts';
import type { Serving } from '../serving.ts';

const document = openApiDocument();
const Answer = z.object({
  content: z.record(z.string(), z.object({ schema: z.record(z.string(), z.unknown()) })).optional(),
});
const Operation = z.looseObject({ responses: z.record(z.string(), Answer) });

let serving: Serving;
beforeAll(async () => {
  serving = await serveAgent();
});
afterAll(() => serving.close());

/** A request and the expected status; other keys are path parameters. */
interface Asking {
  status?: number;
  body?: unknown;
  query?: string;
  [part: string]: unknown;
}

/** What violates the description in a response; empty if nothing does. */
function problemsOf(described: z.infer<typeof Answer> | undefined, type: string, text: string): unknown[] {
  if (!described) return ['the status is not described'];
  const { content = {} } = described;
  if (type === '') return text === '' && described.content === undefined ? [] : ['a body was described'];
  const form = content[type];
  if (!form) return [`${type} is not described`];
  if (type !== 'application/json') return [];
  const schema = { ...form.schema, components: document.components };
  const { valid, errors } = new Validator(schema, '2020-12', false).validate(fromJson(text));
  return valid ? [] : [errors.at(-1), text];
}

/** The operations at a path, or at the one of which it is an alias. */
const describedAt = (path: string) => document.paths[path] ?? document.paths[path.replace(/\/$/, '')];

/** Sends requests, and collects what violates the description in the responses. */
function asking() {
  const wrong: unknown[] = [];
  const ask = async (
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    template: string,
    { status = 200, body, query = '', ...parts }: Asking = {},
  ): Promise<Record<string, unknown>> => {
    const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(parts[name]));
    const answer = await fetch(`${serving.url}${path}${query}`, {
      method,
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    const { responses } = Operation.parse(describedAt(template)?.[method.toLowerCase()]);
    const type = answer.headers.get('content-type')?.split(';')[0] ?? '';
    const problems = problemsOf(responses[String(answer.status)], type, text);
    if (answer.status !== status) problems.push(`answered ${answer.status} instead of ${status}`, text);
    if (problems.length > 0) wrong.push([method, path, answer.status, ...problems]);
    return Object(fromJson(text));
  };
  return { ask, wrong };
}

test('assistant responses match the description', async () => {
  const { ask, wrong } = asking();
  const context = { greeting: 'hi' };
  const body = { graph_id: 'echo', name: 'One', description: 'Says hi.', context, metadata: { a: 1 } };
  const { assistant_id } = await ask('POST', '/assistants', { body });
  const one = { assistant_id };
  await ask('POST', '/assistants', { status: 409, body: { graph_id: 'echo', assistant_id } });
  await ask('POST', '/assistants', { status: 404, body: { graph_id: 'unknown' } });
  await ask('POST', '/assistants', { status: 422, body: { graph_id: 7 } });
  await ask('GET', '/assistants/{assistant_id}', one);
  await ask('GET', '/assistants/{assistant_id}', { assistant_id: 'unknown', status: 404 });
  await ask('PATCH', '/assistants/{assistant_id}', { ...one, body: { context: {} } });
  await ask('POST', '/assistants/search', { body: {} });
  await ask('POST', '/assistants/count', { body: {} });
  await ask('POST', '/assistants/{assistant_id}/versions', { ...one, body: {} });
  await ask('POST', '/assistants/{assistant_id}/latest', { ...one, body: { version: 1 } });
  await ask('POST', '/assistants/{assistant_id}/latest', { ...one, status: 404, body: { version: 9 } });
  for (const assistant of ['echo', 'chat', 'outer', 'toned']) {
    await ask('GET', '/assistants/{assistant_id}/graph', { assistant_id: assistant, query: '?xray=true' });
    await ask('GET', '/assistants/{assistant_id}/schemas', { assistant_id: assistant });
    await ask('GET', '/assistants/{assistant_id}/subgraphs', { assistant_id: assistant, query: '?recurse=true' });
  }
  await ask('GET', '/assistants/{assistant_id}/subgraphs/{namespace}', { assistant_id: 'outer', namespace: 'inside' });
  await ask('DELETE', '/assistants/{assistant_id}', { ...one, status: 204 });
  expect(wrong).toEqual([]);
});

test('thread and state responses match the description', async () => {
  const { ask, wrong } = asking();
  const { thread_id } = await ask('POST', '/threads', { body: { metadata: { a: 1 }, ttl: 60 } });
  const one = { thread_id };
  await ask('POST', '/threads', { status: 409, body: { thread_id } });
  await ask('POST', '/threads/{thread_id}/runs/wait', {
    ...one,
    body: { assistant_id: 'interrupts', input: { request: 'sing' } },
  });
  await ask('GET', '/threads/{thread_id}', { ...one, query: '?include=ttl' });
  await ask('GET', '/threads/{thread_id}', { thread_id: randomUUID(), status: 404 });
  await ask('PATCH', '/threads/{thread_id}', { ...one, body: { metadata: { b: 2 } } });
  await ask('POST', '/threads/search', { body: { status: 'interrupted' } });
  await ask('POST', '/threads/count', { body: {} });
  await ask('GET', '/threads/{thread_id}/state', { ...one, query: '?subgraphs=true' });
  await ask('PATCH', '/threads/{thread_id}/state', { ...one, status: 204, body: { metadata: { c: 3 } } });
  const { checkpoint } = await ask('POST', '/threads/{thread_id}/state', {
    ...one,
    body: { values: { request: 'dance' }, as_node: 'think' },
  });
  const { checkpoint_id } = Object(checkpoint);
  await ask('GET', '/threads/{thread_id}/state/{checkpoint_id}', { ...one, checkpoint_id });
  await ask('POST', '/threads/{thread_id}/state/checkpoint', { ...one, body: { checkpoint } });
  await ask('GET', '/threads/{thread_id}/history', { ...one, query: '?limit=5' });
  await ask('POST', '/threads/{thread_id}/history', { ...one, body: { limit: 5 } });
  await ask('POST', '/threads/{thread_id}/copy', one);
  const { thread_id: failed } = await ask('POST', '/threads', { body: {} });
  const failing = { assistant_id: 'echo', input: { input: 'x', fail: 'no ink' } };
  await ask('POST', '/threads/{thread_id}/runs/wait', { thread_id: failed, body: failing });
  const { tasks } = await ask('GET', '/threads/{thread_id}/state', { thread_id: failed });
  expect(tasks).toEqual([expect.objectContaining({ error: expect.stringMatching(/^\w+: .*no ink/) })]);
  await ask('GET', '/threads/{thread_id}/history', { thread_id: failed });
  await ask('POST', '/threads/prune', { body: { thread_ids: [thread_id], strategy: 'keep_latest' } });
  await ask('DELETE', '/threads/{thread_id}', { ...one, status: 204 });
  expect(wrong).toEqual([]);
});

test('run responses match the description', async () => {
  const { ask, wrong } = asking();
  const { thread_id } = await ask('POST', '/threads', { body: {} });
  const body = { assistant_id: 'echo', input: { input: 'x' } };
  const { run_id } = await ask('POST', '/threads/{thread_id}/runs', { thread_id, body });
  const one = { thread_id, run_id };
  await ask('GET', '/threads/{thread_id}/runs/{run_id}/join', one);
  await ask('GET', '/threads/{thread_id}/runs/{run_id}', one);
  await ask('GET', '/threads/{thread_id}/runs', { thread_id });
  await ask('GET', '/threads/{thread_id}/runs/{run_id}/stream', one);
  await ask('GET', '/runs/{run_id}/stream', one);
  await ask('POST', '/threads/{thread_id}/runs/{run_id}/cancel', { ...one, status: 409 });
  await ask('POST', '/threads/{thread_id}/runs/stream', { thread_id, body });
  await ask('POST', '/threads/{thread_id}/runs/wait', {
    thread_id,
    body: { ...body, input: { input: 'x', fail: 'y' } },
  });
  await ask('POST', '/threads/{thread_id}/runs/wait', { thread_id: randomUUID(), status: 404, body });
  await ask('POST', '/threads/{thread_id}/runs/wait', {
    thread_id,
    status: 422,
    body: { assistant_id: 'echo', stream_mode: 'loud' },
  });
  await ask('DELETE', '/threads/{thread_id}/runs/{run_id}', { ...one, status: 204 });
  await ask('POST', '/runs/wait', { body });
  await ask('POST', '/runs/stream', { body });
  await ask('POST', '/runs', { body });
  await ask('POST', '/runs/batch', { body: [body, body] });
  const long = { ...body, input: { input: 'x', sleep_ms: 60_000 } };
  const { run_id: first } = await ask('POST', '/threads/{thread_id}/runs', { thread_id, body: long });
  await ask('POST', '/threads/{thread_id}/runs/{run_id}/cancel', {
    thread_id,
    run_id: first,
    query: '?wait=true',
    status: 204,
  });
  const { run_id: second } = await ask('POST', '/threads/{thread_id}/runs', { thread_id, body: long });
  await ask('POST', '/runs/cancel', { status: 204, body: { thread_id, run_ids: [second] } });
  expect(wrong).toEqual([]);
});

test('cron responses match the description', async () => {
  const { ask, wrong } = asking();
  const { thread_id } = await ask('POST', '/threads', { body: {} });
  const body = { assistant_id: 'echo', schedule: '0 0 1 1 *', input: { input: 'x' } };
  const { cron_id } = await ask('POST', '/runs/crons', { body });
  await ask('POST', '/threads/{thread_id}/runs/crons', { thread_id, body });
  await ask('POST', '/runs/crons', { status: 422, body: { ...body, schedule: 'sometimes' } });
  await ask('PATCH', '/runs/crons/{cron_id}', { cron_id, body: { enabled: false } });
  await ask('POST', '/runs/crons/search', { body: {} });
  await ask('POST', '/runs/crons/count', { body: {} });
  await ask('DELETE', '/runs/crons/{cron_id}', { cron_id, status: 204 });
  await ask('DELETE', '/runs/crons/{cron_id}', { cron_id, status: 404 });
  expect(wrong).toEqual([]);
});

test('store responses match the description', async () => {
  const { ask, wrong } = asking();
  await ask('PUT', '/store/items', { status: 204, body: { namespace: ['a', 'b'], key: 'k', value: { word: 'x' } } });
  await ask('PUT', '/store/items', { status: 422, body: { namespace: 'a', key: 'k', value: {} } });
  await ask('GET', '/store/items', { query: '?namespace=a.b&key=k' });
  await ask('GET', '/store/items', { query: '?namespace=a.b&key=none' });
  await ask('GET', '/store/items', { query: '?key=k', status: 400 });
  await ask('POST', '/store/items/search', { body: { namespace_prefix: ['a'], filter: { word: 'x' } } });
  await ask('POST', '/store/namespaces', { body: { prefix: ['a'] } });
  await ask('DELETE', '/store/items', { status: 204, body: { namespace: ['a', 'b'], key: 'k' } });
  expect(wrong).toEqual([]);
});

test('protocol and system responses match the description', async () => {
  const { ask, wrong } = asking();
  const call = (method: string, params: object) => ({ jsonrpc: '2.0', id: 1, method, params });
  const message = { role: 'user', messageId: 'm', parts: [{ kind: 'text', text: 'Hi' }] };
  await ask('POST', '/a2a/{assistant_id}', { assistant_id: 'chat', body: call('message/send', { message }) });
  await ask('POST', '/a2a/{assistant_id}', { assistant_id: 'chat', body: call('message/stream', { message }) });
  await ask('POST', '/a2a/{assistant_id}', { assistant_id: 'chat', body: call('tasks/get', { id: 'x' }) });
  await ask('POST', '/a2a/{assistant_id}', {
    assistant_id: 'unknown',
    status: 404,
    body: call('tasks/get', { id: 'x' }),
  });
  await ask('GET', '/.well-known/agent-card.json', { query: '?assistant_id=chat' });
  await ask('GET', '/.well-known/agent-card.json', { status: 422 });
  for (const path of ['/mcp', '/mcp/']) {
    await ask('POST', path, { body: call('tools/list', {}) });
    await ask('GET', path, { status: 405 });
    await ask('DELETE', path, { status: 404 });
  }
  await ask('GET', '/ok', { query: '?check_db=1' });
  await ask('GET', '/info');
  await ask('GET', '/metrics');
  await ask('GET', '/metrics', { query: '?format=json' });
  await ask('GET', '/openapi.json');
  await ask('GET', '/docs');
  expect(wrong).toEqual([]);
});
