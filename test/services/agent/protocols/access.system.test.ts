import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { files } from '../auth/agent.ts';
import { serveAgent } from '../serving.ts';
import type { Serving } from '../serving.ts';
import { temporaryAgent } from '../temporary-agent.ts';
import type { TemporaryAgent } from '../temporary-agent.ts';

let agent: TemporaryAgent;
let serving: Serving;
beforeAll(async () => {
  agent = temporaryAgent(files);
  serving = await serveAgent({ configPath: agent.configPath, token: 'only-me' });
});
afterAll(async () => {
  await serving.close();
  agent.remove();
});

const post = (path: string, user: string | undefined, body: object) =>
  fetch(`${serving.url}${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'x-landfall-agent-token': 'only-me',
      ...(user === undefined ? {} : { 'x-user': user }),
    },
    body: JSON.stringify(body),
  });

const call = (method: string, params: object) => ({ jsonrpc: '2.0', id: 1, method, params });
const Tools = z.object({ result: z.object({ tools: z.array(z.object({ name: z.string() })) }) });
const Result = z.object({ result: z.looseObject({ id: z.string().optional() }) });

describe('an agent with access rules', () => {
  test.each(['/mcp', '/a2a/who'])('%s requires authentication', async (path) => {
    expect((await post(path, undefined, call('tools/list', {}))).status).toBe(401);
  });

  test('lists only the assistants that the rules allow as tools', async () => {
    expect((await post('/assistants', 'ann', { graph_id: 'who', name: 'OfAnn' })).status).toBe(200);
    const toolsOf = async (user: string) =>
      Tools.parse(await (await post('/mcp', user, call('tools/list', {}))).json()).result.tools.map(({ name }) => name);
    expect(await toolsOf('ann')).toContain('OfAnn');
    expect(await toolsOf('bob')).not.toContain('OfAnn');
  });

  test('runs a tool on behalf of its caller', async () => {
    await post('/assistants', 'cid', { graph_id: 'who', name: 'OfCid' });
    const answer = await post('/mcp', 'cid', call('tools/call', { name: 'OfCid', arguments: {} }));
    expect(await answer.text()).toContain('CID calm no-token cid see+do');
  });

  test('a task belongs to the sender of its message', async () => {
    const { assistant_id: id } = Object(await (await post('/assistants', 'dan', { graph_id: 'who' })).json());
    const message = { role: 'user', messageId: 'm', parts: [{ kind: 'data', data: {} }] };
    const sent = await (await post(`/a2a/${id}`, 'dan', call('message/send', { message }))).json();
    expect(sent).toMatchObject({
      result: { artifacts: [{ parts: [{ data: { said: 'DAN calm no-token dan see+do' } }] }] },
    });
    const task = Result.parse(sent).result.id;
    const read = async (user: string) => (await post(`/a2a/${id}`, user, call('tasks/get', { id: task }))).json();
    expect(await read('dan')).toMatchObject({ result: { id: task, status: { state: 'completed' } } });
    expect(await read('eve')).not.toHaveProperty('result');
  });

  test('another user’s task looks like a missing one', async () => {
    const assistantOf = async (user: string): Promise<string> =>
      Object(await (await post('/assistants', user, { graph_id: 'who' })).json()).assistant_id;
    const message = { role: 'user', messageId: 'm', parts: [{ kind: 'data', data: {} }] };
    const sent = await post(`/a2a/${await assistantOf('dan')}`, 'dan', call('message/send', { message }));
    const task = Result.parse(await sent.json()).result.id;
    const hers = await assistantOf('eve');
    const read = async (id = '') => (await post(`/a2a/${hers}`, 'eve', call('tasks/get', { id }))).text();
    const nobodys = '00000000-0000-4000-8000-000000000000';
    expect((await read(task)).replaceAll(String(task), nobodys)).toBe(await read(nobodys));
  });
});
