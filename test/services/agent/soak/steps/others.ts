import { fieldsOf, itemsOf } from '../caller.ts';
import { note } from '../worker.ts';
import type { Step } from '../worker.ts';

const namespaceOf = (name: string) => ['soak', name];

const put: Step = async (worker) => {
  const { caller, chance, items, name, newMark } = worker;
  const key = `key${chance.between(0, 15)}`;
  if (items.ids().includes(key) && items.get(key) === undefined && items.problem(key, undefined) === undefined) return;
  const value = { word: newMark() };
  note(items, key, { value }, await caller.ask('PUT', '/store/items', { namespace: namespaceOf(name), key, value }));
};

const forget: Step = async (worker) => {
  const { caller, chance, items, name } = worker;
  const key = chance.any(items.sure());
  if (key === undefined) return;
  note(items, key, undefined, await caller.ask('DELETE', '/store/items', { namespace: namespaceOf(name), key }));
};

const find: Step = async (worker) => {
  const { caller, chance, items, name, faults } = worker;
  const key = chance.any(items.sure());
  if (key === undefined) return;
  const filter = items.get(key)?.value;
  const said = await caller.ask('POST', '/store/items/search', { namespace_prefix: namespaceOf(name), filter });
  await caller.ask('POST', '/store/namespaces', { prefix: ['soak'] });
  if (said.kind === 'unknown') return;
  const found = itemsOf(fieldsOf(said.body)['items']).map((item) => fieldsOf(item)['key']);
  if (!found.includes(key)) faults.push(`the search missed the item ${key} of ${name}`);
};

/** The response to a call whose process is shutting down. */
const LEAVES = /ServerStopped|The server is shutting down/;

const rpc = (method: string, params: object) => ({ jsonrpc: '2.0', id: 1, method, params });

/** An A2A agent: every process returns its task. */
const talk: Step = async (worker) => {
  const { caller, chance, newMark, tasks, faults } = worker;
  const text = newMark();
  const message = { role: 'user', kind: 'message', messageId: chance.uuid(), parts: [{ kind: 'text', text }] };
  const said = await caller.ask('POST', '/a2a/talk', rpc('message/send', { message }));
  if (said.kind === 'unknown') return;
  const reply = JSON.stringify(said.body);
  const task = fieldsOf(fieldsOf(said.body)['result']);
  if (!reply.includes(`heard ${text}`)) {
    // Its process shut down: the task reports that it was interrupted.
    if (!LEAVES.test(reply) && !/"state":"(canceled|failed)"/.test(reply)) faults.push(`talking was answered ${reply}`);
    return;
  }
  tasks.set(String(task['id']), text);
};

const askTool: Step = async (worker) => {
  const { caller, newMark, faults } = worker;
  const mark = newMark();
  const call = { name: 'soak', arguments: { mark, sleep_ms: 20, fail: false, ask: false } };
  await caller.ask('POST', '/mcp', rpc('tools/list', {}));
  const said = await caller.ask('POST', '/mcp', rpc('tools/call', call));
  if (said.kind === 'unknown') return;
  const reply = JSON.stringify(said.body);
  if (!reply.includes(`hello ${mark}`) && !LEAVES.test(reply)) faults.push(`the tool answered ${reply.slice(0, 500)}`);
};

const ofTheSystem: Step = async ({ caller, chance }) => {
  const path = chance.one([
    '/ok',
    '/info',
    '/metrics?format=json',
    '/docs',
    '/openapi.json',
    '/.well-known/agent-card.json?assistant_id=talk',
  ]);
  await caller.report('GET', path, undefined);
};

const refused: Step = async ({ caller, chance }) => {
  const unknownId = chance.uuid();
  const [method, path, body, status] = chance.one<[string, string, unknown, number]>([
    ['GET', `/threads/${unknownId}`, undefined, 404],
    ['GET', `/assistants/${unknownId}`, undefined, 404],
    ['POST', '/runs/wait', { assistant_id: unknownId }, 404],
    ['POST', '/runs/wait', { assistant_id: 'soak', webhook: 'no url' }, 422],
    ['POST', '/threads', { thread_id: 'none' }, 422],
    ['POST', '/runs/crons', { assistant_id: 'soak', schedule: 'seldom' }, 422],
  ]);
  await caller.ask(method, path, body, [status]);
};

/** Steps of the groups store, A2A, MCP, system and rejected requests, with their weights. */
export const otherSteps: [number, Step][] = [
  [4, put],
  [2, forget],
  [2, find],
  [3, talk],
  [2, askTool],
  [2, ofTheSystem],
  [2, refused],
];
