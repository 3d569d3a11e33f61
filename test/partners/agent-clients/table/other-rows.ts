import { randomUUID } from 'node:crypto';
import { code, count, field, unknownId, row, text } from './row.ts';
import type { Row } from './row.ts';

const daily = { assistant_id: 'greeter', schedule: '0 9 * * *', input: { input: 'Ada' } };
const rpc = (method: string, params: object) => ({ jsonrpc: '2.0', id: 1, method, params });

export const cronRows: Row[] = [
  row('a cron is created', (server) => server.status('POST', '/runs/crons', daily)),
  row('a cron on a thread is created', async (server) => {
    const thread = await server.thread();
    const assistant = await server.assistant();
    const body = { ...daily, assistant_id: assistant, thread_id: thread };
    return server.status('POST', `/threads/${thread}/runs/crons`, body);
  }),
  row('crons are searched', (server) => server.status('POST', '/runs/crons/search', {})),
  row('crons are counted', (server) => server.status('POST', '/runs/crons/count', {})),
  row('deleting a missing cron is a 404', (server) => server.status('DELETE', `/runs/crons/${unknownId}`)),
];

export const storeRows: Row[] = [
  row('graphs can read a stored item', async (server) => {
    const who = randomUUID();
    await server.ask('PUT', '/store/items', { namespace: ['visits'], key: who, value: { times: 4 } });
    const { body } = await server.wait({ assistant_id: 'keeper', input: { who } });
    return code(field(body, 'seen'));
  }),
  row('a missing item', async (server) => {
    const { status, body } = await server.ask('GET', `/store/items?namespace=none&key=none`);
    return `${status} with ${body === undefined ? 'no JSON' : code(body)}`;
  }),
  row('a filter with `$gte`', async (server) => {
    const namespace = [randomUUID()];
    await server.ask('PUT', '/store/items', { namespace, key: 'old', value: { age: 40 } });
    await server.ask('PUT', '/store/items', { namespace, key: 'young', value: { age: 4 } });
    const filter = { age: { $gte: 30 } };
    const { body } = await server.ask('POST', '/store/items/search', { namespace_prefix: namespace, filter });
    return `${count(field(body, 'items'))} of 2 found`;
  }),
  row('a namespace search excludes its neighbours (`users.1` and `users.10`)', async (server) => {
    const root = randomUUID();
    for (const last of ['1', '10'])
      await server.ask('PUT', '/store/items', { namespace: [root, last], key: 'k', value: { here: true } });
    const { body } = await server.ask('POST', '/store/items/search', { namespace_prefix: [root, '1'] });
    return `${count(field(body, 'items'))} found`;
  }),
  row('an item expires after its `ttl` (0.01 minutes)', async (server) => {
    const namespace = [randomUUID()];
    await server.ask('PUT', '/store/items', { namespace, key: 'k', value: { here: true }, ttl: 0.01 });
    await new Promise((resolve) => setTimeout(resolve, 800));
    const { body } = await server.ask('POST', '/store/items/search', { namespace_prefix: namespace });
    return `${count(field(body, 'items'))} found`;
  }),
];

export const systemRows: Row[] = [
  row('`/docs` is a page', (server) => server.status('GET', '/docs')),
  row('`/openapi.json` describes the server', (server) => server.status('GET', '/openapi.json')),
  row('`/metrics` returns metrics', (server) => server.status('GET', '/metrics')),
  row('`/info` returns a version of at least 0.5.36', async (server) =>
    code(field((await server.ask('GET', '/info')).body, 'version')),
  ),
  row('`/mcp` serves the model context protocol', async (server) => {
    const answer = await fetch(`${server.server.url}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify(rpc('tools/list', {})),
    });
    await answer.body?.cancel();
    return String(answer.status);
  }),
  row('`/a2a/{assistant_id}` serves the agent-to-agent protocol', (server) => {
    const said = { kind: 'message', messageId: randomUUID(), role: 'user', parts: [{ kind: 'text', text: 'hi' }] };
    return server.status('POST', '/a2a/chat', rpc('message/send', { message: said }));
  }),
  row('an invalid JSON body is a 400', async (server) => {
    const answer = await fetch(`${server.server.url}/threads`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{',
    });
    await answer.body?.cancel();
    return String(answer.status);
  }),
  row('an error is `{"detail": ...}`', async (server) => {
    const { body } = await server.ask('GET', `/threads/${unknownId}`);
    return field(body, 'detail') === undefined ? 'it is not' : 'it is';
  }),
];

/** What outlives a kill; the servers are started again by it. */
export const killedRows: Row[] = [
  row('acknowledged changes survive a kill: assistant, thread, item, run', async (server) => {
    const assistant = await server.assistant({ name: 'Kept' });
    const thread = await server.thread();
    const namespace = randomUUID();
    await server.ask('PUT', '/store/items', { namespace: [namespace], key: 'k', value: { here: true } });
    const run = await server.run(thread, { assistant_id: 'slow', input: { each: 300 } });
    await server.server.startAgain();
    const there = {
      assistant: text((await server.ask('GET', `/assistants/${assistant}`)).body, 'assistant_id') !== '',
      thread: text((await server.ask('GET', `/threads/${thread}`)).body, 'thread_id') !== '',
      item: field((await server.ask('GET', `/store/items?namespace=${namespace}&key=k`)).body, 'key') !== undefined,
      run: (await server.until(thread, run, 'success')) === 'success',
    };
    const kept = Object.entries(there).flatMap(([name, is]) => (is ? [name] : []));
    return kept.length === 0 ? 'nothing is there' : `${kept.join(', ')} ${kept.length > 1 ? 'are' : 'is'} there`;
  }),
];
