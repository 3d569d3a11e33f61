import { afterAll, beforeAll, expect, test } from 'vitest';
import { serveAgent } from './serving.ts';
import type { Serving } from './serving.ts';

let serving: Serving;
beforeAll(async () => {
  serving = await serveAgent();
});
afterAll(() => serving.close());

const run = { assistant_id: 'echo', input: { input: 'Ada' } };
const tuple = { namespace: ['parity'], key: 'k' };

/** Operations of every kind, in order; `:assistant` is the id of the assistant created last, and so on. */
const operations: [what: string, status: number, method: string, path: string, body?: object][] = [
  ['the health', 200, 'GET', '/ok'],
  ['the server’s description', 200, 'GET', '/info'],
  ['the OpenAPI document', 200, 'GET', '/openapi.json'],
  ['an unknown path', 404, 'GET', '/nothing'],
  ['a new assistant', 200, 'POST', '/assistants', { graph_id: 'echo', name: 'parity' }],
  ['an assistant', 200, 'GET', '/assistants/:assistant'],
  ['a patched assistant', 200, 'PATCH', '/assistants/:assistant', { name: 'other' }],
  ['its versions', 200, 'POST', '/assistants/:assistant/versions', {}],
  ['a selected version', 200, 'POST', '/assistants/:assistant/latest', { version: 1 }],
  ['the schemas of a graph', 200, 'GET', '/assistants/:assistant/schemas'],
  ['an assistant of an unknown graph', 404, 'POST', '/assistants', { graph_id: 'nothing' }],
  ['a deleted assistant', 204, 'DELETE', '/assistants/:assistant'],
  ['a missing assistant', 404, 'GET', '/assistants/:assistant'],
  ['a new thread', 200, 'POST', '/threads', { metadata: { by: 'parity' } }],
  ['a run on it', 200, 'POST', '/threads/:thread/runs/wait', run],
  ['its state', 200, 'GET', '/threads/:thread/state'],
  ['its history', 200, 'POST', '/threads/:thread/history', {}],
  ['a changed state', 200, 'POST', '/threads/:thread/state', { values: { input: 'Eve' }, as_node: '__start__' }],
  ['a streamed run', 200, 'POST', '/threads/:thread/runs/stream', { ...run, stream_mode: ['values', 'updates'] }],
  ['its runs', 200, 'GET', '/threads/:thread/runs'],
  ['a run without a thread', 200, 'POST', '/runs/wait', run],
  ['a failed run', 200, 'POST', '/runs/wait', { ...run, input: { input: 'x', fail: 'no ink' } }],
  ['an invalid run', 422, 'POST', '/runs/wait', { assistant_id: 7 }],
  ['a new cron', 200, 'POST', '/threads/:thread/runs/crons', { ...run, schedule: '0 0 1 1 *' }],
  ['an invalid cron', 422, 'POST', '/runs/crons', { ...run, schedule: 'never' }],
  ['a deleted cron', 204, 'DELETE', '/runs/crons/:cron'],
  ['a stored item', 204, 'PUT', '/store/items', { ...tuple, value: { v: 1 } }],
  ['an item', 200, 'GET', '/store/items?namespace=parity&key=k'],
  ['a deleted item', 204, 'DELETE', '/store/items', tuple],
  ['a missing item', 200, 'GET', '/store/items?namespace=parity&key=k'],
  ['a copied thread', 200, 'POST', '/threads/:thread/copy'],
  ['a deleted thread', 204, 'DELETE', '/threads/:thread'],
  ['a missing thread', 404, 'GET', '/threads/:thread'],
];

type Send = (path: string, init: RequestInit) => Response | Promise<Response>;

interface Answered {
  what: string;
  status: number;
  type: string | null;
  said: string;
}

/** Sends every operation and returns the answers, with placeholders for what differs between any two calls. */
async function answersTo(send: Send): Promise<Answered[]> {
  const ids: Record<string, string> = {};
  const answers: Answered[] = [];
  for (const [what, , method, path, body] of operations) {
    const headers = { 'user-agent': 'landfall-tests', 'content-type': 'application/json' };
    const content = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await send(
      path.replaceAll(/:(\w+)/g, (_, name: string) => ids[name] ?? ''),
      { method, headers, ...content },
    );
    // A response that takes more than a second begins with newlines.
    const text = (await response.text()).trim();
    const created = /^\{"(assistant|thread|cron)_id":"([^"]*)"/.exec(text);
    if (created?.[1] && what.startsWith('a new')) ids[created[1]] = created[2] ?? '';
    const said = text
      .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'ID')
      .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+(Z|\+00:00)/g, 'TIME');
    answers.push({ what, status: response.status, type: response.headers.get('content-type'), said });
  }
  return answers;
}

test('a request to the routes in process is answered as over HTTP', async () => {
  const overHttp = await answersTo((path, init) => fetch(`${serving.url}${path}`, init));
  const inProcess = await answersTo((path, init) => serving.fetch(new Request(`http://agent.test${path}`, init)));
  expect(overHttp.map(({ what, status }) => [what, status])).toEqual(
    operations.map(([what, status]) => [what, status]),
  );
  expect(inProcess).toEqual(overHttp);
});
