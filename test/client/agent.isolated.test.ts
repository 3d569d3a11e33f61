import nock from 'nock';
import { afterEach, describe, expect, test } from 'vitest';
import { connectAgentServer, type AgentServerClient, type AgentServerSettings } from '../../src/client/agent.ts';
import type { StreamEvent } from '../../src/contract/agent/stream-event.ts';
import { recordedBytes, recordedStreams } from '../kit/sse/recorded-stream.ts';
import { checkNothingPending } from './intercepted.ts';
import { quickClock, serviceError } from './stand-in.ts';

const host = 'https://agent.example.test';
const connected = (settings: Partial<AgentServerSettings> = {}): AgentServerClient =>
  connectAgentServer({
    url: host,
    apiKey: 'the-api-key',
    userAgent: 'landfall/test',
    clock: quickClock(),
    env: {},
    retry: { attempts: 1 },
    ...settings,
  });

const threadId = '01a1fc29-0c35-7539-9881-7989639fc5fc';
const runId = '01a1fc29-f8c3-757d-8270-e2545fbafa2e';
const times = { created_at: '2026-11-21T03:31:50.628Z', updated_at: '2026-11-21T03:31:50.805Z' };
// Recorded from a public server; its thread has no `values`.
const assistant = {
  assistant_id: '3330969d-1bd6-5dfc-80e9-91e7dbf68c4e',
  graph_id: 'tiny',
  name: 'tiny',
  version: 1,
  config: {},
  context: {},
  metadata: { created_by: 'system' },
  description: null,
  ...times,
};
const thread = { thread_id: threadId, metadata: {}, status: 'idle', config: {}, ...times };
const run = {
  run_id: runId,
  thread_id: threadId,
  assistant_id: assistant.assistant_id,
  status: 'pending',
  metadata: {},
  kwargs: { input: {} },
  multitask_strategy: 'reject',
  ...times,
};
const state = {
  values: { output: 'hello' },
  next: [],
  tasks: [],
  checkpoint: { thread_id: threadId },
  created_at: times.created_at,
};
const cron = { cron_id: runId, schedule: '@daily' };
const request = { assistant_id: 'tiny', input: { input: 'x' } };

afterEach(checkNothingPending);

type Step = [
  sentence: string,
  method: string,
  path: string,
  answer: object | undefined,
  call: (client: AgentServerClient) => Promise<unknown>,
  sent?: object,
];

const runs = `/threads/${threadId}/runs`;
const steps: Step[] = [
  ['info', 'GET', '/info', { version: '1.5.1', context: 'js', flags: { assistants: true } }, (client) => client.info()],
  [
    'createAssistant',
    'POST',
    '/assistants',
    assistant,
    (client) => client.createAssistant({ graph_id: 'tiny' }),
    { graph_id: 'tiny' },
  ],
  ['getAssistant', 'GET', '/assistants/tiny', assistant, (client) => client.getAssistant('tiny')],
  [
    'searchAssistants',
    'POST',
    '/assistants/search',
    [assistant],
    (client) => client.searchAssistants({ limit: 5 }),
    { limit: 5 },
  ],
  [
    'patchAssistant',
    'PATCH',
    '/assistants/tiny',
    assistant,
    (client) => client.patchAssistant('tiny', { context: { greeting: 'x' } }),
    { context: { greeting: 'x' } },
  ],
  [
    'listAssistantVersions',
    'POST',
    '/assistants/tiny/versions',
    [assistant],
    (client) => client.listAssistantVersions('tiny', { limit: 5 }),
    { limit: 5 },
  ],
  [
    'setLatestAssistantVersion',
    'POST',
    '/assistants/tiny/latest',
    assistant,
    (client) => client.setLatestAssistantVersion('tiny', { version: 1 }),
    { version: 1 },
  ],
  [
    'deleteAssistant',
    'DELETE',
    '/assistants/tiny',
    [assistant.assistant_id],
    (client) => client.deleteAssistant('tiny'),
  ],
  [
    'createCron',
    'POST',
    `${runs}/crons`,
    cron,
    (client) => client.createCron({ assistant_id: 'tiny', schedule: '@daily' }, threadId),
    { assistant_id: 'tiny', schedule: '@daily' },
  ],
  [
    'createCron without a thread',
    'POST',
    '/runs/crons',
    cron,
    (client) => client.createCron({ assistant_id: 'tiny', schedule: '@daily' }, undefined),
    { assistant_id: 'tiny', schedule: '@daily' },
  ],
  ['deleteCron', 'DELETE', `/runs/crons/${runId}`, {}, (client) => client.deleteCron(runId)],
  ['createThread', 'POST', '/threads', thread, (client) => client.createThread({}), {}],
  ['getThread', 'GET', `/threads/${threadId}`, thread, (client) => client.getThread(threadId)],
  ['deleteThread', 'DELETE', `/threads/${threadId}`, undefined, (client) => client.deleteThread(threadId)],
  ['getThreadState', 'GET', `/threads/${threadId}/state`, state, (client) => client.getThreadState(threadId)],
  [
    'searchThreads',
    'POST',
    '/threads/search',
    [thread],
    (client) => client.searchThreads({ status: 'idle', limit: 5 }),
    { status: 'idle', limit: 5 },
  ],
  ['copyThread', 'POST', `/threads/${threadId}/copy`, thread, (client) => client.copyThread(threadId)],
  [
    'copyThread with metadata',
    'POST',
    `/threads/${threadId}/copy`,
    thread,
    (client) => client.copyThread(threadId, { metadata: { mark: true } }),
    { metadata: { mark: true } },
  ],
  [
    'patchThread',
    'PATCH',
    `/threads/${threadId}`,
    thread,
    (client) => client.patchThread(threadId, { metadata: { mark: true }, ttl: { ttl: 5 } }),
    { metadata: { mark: true }, ttl: { ttl: 5 } },
  ],
  [
    'drawGraph',
    'GET',
    '/assistants/tiny/graph',
    { nodes: [{ id: 'a' }], edges: [] },
    (client) => client.drawGraph('tiny'),
  ],
  [
    'readSchemas',
    'GET',
    '/assistants/tiny/schemas',
    { graph_id: 'tiny', state_schema: {} },
    (client) => client.readSchemas('tiny'),
  ],
  ['createRun', 'POST', runs, run, (client) => client.createRun(request, threadId), request],
  ['createRun without a thread', 'POST', '/runs', run, (client) => client.createRun(request, undefined), request],
  ['getRun', 'GET', `${runs}/${runId}`, run, (client) => client.getRun(threadId, runId)],
  ['cancelRun', 'POST', `${runs}/${runId}/cancel`, undefined, (client) => client.cancelRun(threadId, runId)],
  [
    'cancelRun and waiting',
    'POST',
    `${runs}/${runId}/cancel?wait=1&action=rollback`,
    undefined,
    (client) => client.cancelRun(threadId, runId, { wait: true, action: 'rollback' }),
  ],
  [
    'cancelRun without waiting',
    'POST',
    `${runs}/${runId}/cancel?action=interrupt`,
    undefined,
    (client) => client.cancelRun(threadId, runId, { wait: false, action: 'interrupt' }),
  ],
];

describe('an operation of the agent server', () => {
  test.each(steps)('%s is %s %s, and its answer is read', async (_, method, path, answer, call, sent) => {
    const bodies: unknown[] = [];
    nock(host, { reqheaders: { 'x-api-key': 'the-api-key' } })
      .intercept(path, method, (body: unknown) => {
        bodies.push(body);
        return true;
      })
      .reply(answer === undefined ? 204 : 200, answer);
    const result = await call(connected());
    expect(result).toEqual(method === 'DELETE' ? undefined : answer);
    expect(bodies).toEqual([sent ?? '']);
  });

  test('keeps the path prefix of the address', async () => {
    nock(host).get('/deployments/support/ok').reply(200, { ok: true });
    await expect(connected({ url: `${host}/deployments/support/` }).ok()).resolves.toBeUndefined();
  });

  test('that violates the contract throws a plain error and sends nothing', async () => {
    const client = connected();
    await expect(client.createThread({ thread_id: 'mine' })).rejects.toThrow(
      'create thread: the request does not keep the contract: thread_id',
    );
    expect(() => client.streamRun({ assistant_id: '' }, threadId)).toThrow(
      'stream run: the request does not keep the contract: assistant_id',
    );
    await expect(client.getThread('')).rejects.toThrow('the thread id');
  });
});

describe('health', () => {
  test('is reported by the server', async () => {
    nock(host).get('/ok').reply(200, { ok: true });
    await expect(connected().ok()).resolves.toBeUndefined();
    nock(host).get('/ok').reply(200, { ok: false });
    expect(await serviceError(connected().ok())).toMatchObject({ kind: 'busy', status: 200, effect: 'none' });
  });

  test('is requested again while the server starts', async () => {
    nock(host)
      .get('/ok')
      .reply(502, 'Bad Gateway')
      .get('/ok')
      .reply(200, { ok: false })
      .get('/ok')
      .reply(200, { ok: true });
    await expect(connected({ retry: { attempts: 3 } }).ok()).resolves.toBeUndefined();
  });
});

describe('the result of a run', () => {
  const boom = { error: 'BoomError', message: 'boom: yes' };
  test.each<[string, string, object]>([
    [
      'the state that it left',
      '{"input":"x","output":"hello x"}',
      { kind: 'values', values: { input: 'x', output: 'hello x' } },
    ],
    [
      'after the line breaks that kept the connection',
      '\n\n\n{"output":1}\n',
      { kind: 'values', values: { output: 1 } },
    ],
    ['a state that is no object', '\n[1,2]', { kind: 'values', values: [1, 2] }],
    ['no state', 'null', { kind: 'values', values: null }],
    ['a failure', `\n{"__error__":${JSON.stringify(boom)}}`, { kind: 'error', error: boom }],
    [
      'a failure that is wrapped once more',
      `{"__error__":{"error":"Error","message":${JSON.stringify(JSON.stringify(boom))}}}`,
      { kind: 'error', error: boom },
    ],
    [
      'a failure whose message is other JSON',
      '{"__error__":{"error":"E","message":"{\\"a\\":1}"}}',
      { kind: 'error', error: { error: 'E', message: '{"a":1}' } },
    ],
    ['a failure in a word', '{"__error__":"boom"}', { kind: 'error', error: { error: 'Error', message: 'boom' } }],
    [
      'a failure without a message',
      '{"__error__":{"error":"Boom","message":null}}',
      { kind: 'error', error: { error: 'Boom', message: '{"error":"Boom","message":null}' } },
    ],
  ])('is %s', async (_, body, expected) => {
    nock(host)
      .post(`${runs}/wait`)
      .reply(200, body, { 'content-type': 'text/plain' })
      .post('/runs/wait')
      .reply(200, body, { 'content-type': 'text/plain' })
      .get(`${runs}/${runId}/join`)
      .reply(200, body);
    const client = connected();
    expect(await client.waitRun(request, threadId)).toEqual(expected);
    expect(await client.waitRun(request, undefined)).toEqual(expected);
    expect(await client.joinRun(threadId, runId)).toEqual(expected);
  });

  test.each(['', '\n\n', '{"output":', '<html></html>'])('is unknown where the answer is %j', async (body) => {
    nock(host).post(`${runs}/wait`).reply(200, body);
    expect(await serviceError(connected().waitRun(request, threadId))).toMatchObject({
      kind: 'unreadable',
      effect: 'unknown',
    });
  });
});

describe('the events of a run', () => {
  test.each(recordedStreams)('recorded in the mode %s are returned unchanged', async (name, count) => {
    nock(host)
      .post(`${runs}/stream`, { ...request, stream_mode: ['updates'] })
      .reply(200, recordedBytes(name), { 'content-type': 'text/event-stream; charset=utf-8' });
    const events: StreamEvent[] = [];
    for await (const event of connected().streamRun({ ...request, stream_mode: ['updates'] }, threadId))
      events.push(event);
    expect(events).toHaveLength(count);
    expect(events[0]).toMatchObject({ id: '0', event: 'metadata', data: { attempt: 1 } });
    expect(events.some(({ event }) => event === 'error')).toBe(name === 'fail');
  });

  test('of subgraphs, of unknown types and without data are returned', async () => {
    const text = 'event: updates|outer:1\ndata: {}\n\nevent: mood\ndata: "good"\n\nevent: end\ndata:\n\n';
    nock(host).post('/runs/stream').reply(200, text, { 'content-type': 'text/event-stream' });
    const events: StreamEvent[] = [];
    for await (const event of connected().streamRun(request, undefined)) events.push(event);
    expect(events).toEqual([
      { event: 'updates|outer:1', data: {} },
      { event: 'mood', data: 'good' },
      { event: 'end', data: null },
    ]);
  });
});

describe('an error response', () => {
  const issue = { code: 'invalid_string', validation: 'uuid', message: 'Invalid uuid', path: ['thread_id'] };
  test.each<[string, number, object | string, object]>([
    ['in plain text', 404, 'Assistant not found', { kind: 'missing', detail: 'Assistant not found' }],
    ['with a detail', 401, { detail: 'Not authenticated' }, { kind: 'unauthorized', detail: 'Not authenticated' }],
    [
      'with a detail for each field',
      422,
      { detail: [{ loc: ['body'], msg: 'bad', type: 'x' }] },
      { kind: 'rejected', problems: [{ loc: ['body'], msg: 'bad', type: 'x' }] },
    ],
    [
      'in a Zod body',
      400,
      { success: false, error: { issues: [issue], name: 'ZodError' } },
      { kind: 'rejected', problems: [{ loc: ['thread_id'], msg: 'Invalid uuid', type: 'invalid_string' }] },
    ],
    ['of a name that is taken', 409, 'Thread already exists', { kind: 'conflict' }],
    ['of a busy thread', 422, 'Thread is already running a task.', { kind: 'rejected', problems: [] }],
  ])('%s is read', async (_, status, body, expected) => {
    nock(host).post('/threads').reply(status, body);
    expect(await serviceError(connected().createThread({}))).toMatchObject({ status, effect: 'none', ...expected });
  });

  test("does not repeat the token of a webhook's address", async () => {
    const webhook = 'https://hooks.example.test/run?token=hunter22';
    for (const body of [`cannot reach ${webhook}`, { detail: 'token hunter22 is not allowed' }]) {
      nock(host).post(runs).reply(422, body);
      const error = await serviceError(connected().createRun({ ...request, webhook }, threadId));
      expect(`${error.stack} ${JSON.stringify(error)}`).not.toContain('hunter22');
      nock(host).post('/runs/crons').reply(422, body);
      const cronError = await serviceError(
        connected().createCron({ ...request, schedule: '@daily', webhook }, undefined),
      );
      expect(`${cronError.stack} ${JSON.stringify(cronError)}`).not.toContain('hunter22');
    }
  });
});
