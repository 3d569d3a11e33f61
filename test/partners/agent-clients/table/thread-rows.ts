import { code, count, field, unknownId, row, text } from './row.ts';
import type { Row } from './row.ts';

const hello = { assistant_id: 'greeter', input: { input: 'Ada' } };

export const threadRows: Row[] = [
  row('a new thread has `values: null`', async (server) =>
    code(field((await server.ask('POST', '/threads', {})).body, 'values')),
  ),
  row('and is `idle`', async (server) => code(field((await server.ask('POST', '/threads', {})).body, 'status'))),
  row('a thread whose run failed is `error`', async (server) => {
    const id = await server.thread();
    await server.wait({ ...hello, input: { input: 'x', fail: 'no ink' } }, id);
    return code(field((await server.ask('GET', `/threads/${id}`)).body, 'status'));
  }),
  row('a thread that waits for a person is `interrupted`', async (server) => {
    const id = await server.thread();
    await server.wait({ assistant_id: 'interrupts', input: { request: 'sing' } }, id);
    return code(field((await server.ask('GET', `/threads/${id}`)).body, 'status'));
  }),
  row('threads are counted', async (server) => {
    const id = await server.thread();
    await server.ask('PATCH', `/threads/${id}`, { metadata: { of: id } });
    return code((await server.ask('POST', '/threads/count', { metadata: { of: id } })).body);
  }),
  row('the history of a thread has a state of each step', async (server) => {
    const id = await server.thread();
    await server.wait({ assistant_id: 'slow', input: { each: 1 } }, id);
    return `${count((await server.ask('GET', `/threads/${id}/history`)).body)} states`;
  }),
  row('a run on a missing thread is a 404', (server) =>
    server.status('POST', `/threads/${unknownId}/runs/wait`, hello),
  ),
  row('an invalid id is a 422', (server) => server.status('GET', '/threads/not-a-uuid')),
  row('a thread shows its `ttl` (`include=ttl`)', async (server) => {
    const id = await server.thread({ ttl: 60 });
    return field((await server.ask('GET', `/threads/${id}?include=ttl`)).body, 'ttl') ? 'it does' : 'it does not';
  }),
  row('`/threads/search` with `values` finds only matching threads', async (server) => {
    const id = await server.thread();
    const word = `w${id}`;
    await server.wait({ assistant_id: 'greeter', input: { input: word } }, id);
    const { body } = await server.ask('POST', '/threads/search', { values: { input: word } });
    return count(body) === 1 ? 'it does' : 'others too';
  }),
  row('`/threads/search` with `ids`', async (server) => {
    const id = await server.thread();
    return `${count((await server.ask('POST', '/threads/search', { ids: [id] })).body)} found`;
  }),
  row('`supersteps` create the state of a new thread', async (server) => {
    const updates = [{ values: { input: 'a', output: 'from outside' }, as_node: 'greet' }];
    const id = await server.thread({ metadata: { graph_id: 'greeter' }, supersteps: [{ updates }] });
    return code(field((await server.ask('GET', `/threads/${id}/state`)).body, 'values', 'output'));
  }),
  row('`/threads/prune` keeps the latest state', (server) =>
    server
      .thread()
      .then((id) => server.status('POST', '/threads/prune', { thread_ids: [id], strategy: 'keep_latest' })),
  ),
  row('a copy has the states of the thread', async (server) => {
    const id = await server.thread();
    await server.wait(hello, id);
    const copy = text((await server.ask('POST', `/threads/${id}/copy`)).body, 'thread_id');
    return code(field((await server.ask('GET', `/threads/${copy}/state`)).body, 'values', 'output'));
  }),
  row('a run from a past state ignores later values', async (server) => {
    const id = await server.thread();
    const slow = { assistant_id: 'slow', input: { each: 1 } };
    await server.wait(slow, id);
    const past = text((await server.ask('GET', `/threads/${id}/state`)).body, 'checkpoint', 'checkpoint_id');
    await server.wait(slow, id);
    const { body } = await server.wait({ ...slow, checkpoint: { checkpoint_id: past, checkpoint_ns: '' } }, id);
    return `${count(field(body, 'steps'))} steps`;
  }),
  row('a manual update of a busy thread is a 409', async (server) => {
    const id = await server.thread();
    const run = await server.run(id, { assistant_id: 'slow', input: { each: 60_000 } });
    await server.until(id, run, 'running');
    const answered = await server.status('POST', `/threads/${id}/state`, { values: { each: 1 } });
    await server.ask('POST', `/threads/${id}/runs/${run}/cancel?wait=1`);
    return answered;
  }),
];
