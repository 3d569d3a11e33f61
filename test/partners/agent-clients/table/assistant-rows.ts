import { randomUUID } from 'node:crypto';
import { code, count, field, row, text } from './row.ts';
import type { Asking, Row } from './row.ts';

const greeting = async (server: Asking, assistant: string): Promise<string> =>
  text((await server.wait({ assistant_id: assistant, input: { input: 'you' } })).body, 'output');

/** The uuid v5 of `chat` in the namespace 6ba7b821-9dad-11d1-80b4-00c04fd430c8. */
const ofChat = 'eb6db400-e3c8-5d06-a834-015cb89efe69';

export const assistantRows: Row[] = [
  row('an assistant of a missing graph is a 404', (server) =>
    server.status('POST', '/assistants', { graph_id: 'nothing' }),
  ),
  row("a context that violates the graph's schema is a 422", (server) =>
    server.status('POST', '/assistants', { graph_id: 'greeter', context: { greeting: 5 } }),
  ),
  row("a run with a context that violates the graph's schema is a 422", (server) =>
    server.status('POST', '/runs/wait', { assistant_id: 'greeter', input: { input: 'x' }, context: { greeting: 5 } }),
  ),
  row('`POST .../latest` with version 1: runs use the context of version 1 again', async (server) => {
    const id = await server.assistant({ context: { greeting: 'one' } });
    await server.ask('PATCH', `/assistants/${id}`, { context: { greeting: 'two' } });
    await server.ask('POST', `/assistants/${id}/latest`, { version: 1 });
    return `runs return "${await greeting(server, id)}"`;
  }),
  row('`POST .../latest` with a missing version is a 404 and changes nothing', async (server) => {
    const id = await server.assistant({ context: { greeting: 'one' } });
    const answered = await server.status('POST', `/assistants/${id}/latest`, { version: 7 });
    return `${answered}, then version ${code(field((await server.ask('GET', `/assistants/${id}`)).body, 'version'))}`;
  }),
  row('`PATCH` without a `context` keeps the current one', async (server) => {
    const id = await server.assistant({ context: { greeting: 'one' } });
    const changed = await server.ask('PATCH', `/assistants/${id}`, { name: 'Other' });
    return code(field(changed.body, 'context'));
  }),
  row('`PATCH` with a `context` replaces it', async (server) => {
    const id = await server.assistant({ context: { greeting: 'one' } });
    return code(field((await server.ask('PATCH', `/assistants/${id}`, { context: {} })).body, 'context'));
  }),
  row('`PATCH` merges `metadata` and returns the whole next version', async (server) => {
    const id = await server.assistant({ metadata: { a: 1 } });
    const { body } = await server.ask('PATCH', `/assistants/${id}`, { metadata: { b: 2 } });
    const { a, b } = Object(field(body, 'metadata'));
    return `version ${code(field(body, 'version'))} with ${code({ a, b })}`;
  }),
  row('`/versions` lists the newest first', async (server) => {
    const id = await server.assistant();
    await server.ask('PATCH', `/assistants/${id}`, { name: 'Second' });
    const { body } = await server.ask('POST', `/assistants/${id}/versions`, {});
    return Array.isArray(body) ? body.map((each) => String(field(each, 'version'))).join(', ') : 'no list';
  }),
  row('five concurrent `PATCH`es create the versions 2 to 6', async (server) => {
    const id = await server.assistant();
    await Promise.all(['a', 'b', 'c', 'd', 'e'].map((name) => server.ask('PATCH', `/assistants/${id}`, { name })));
    const { body } = await server.ask('POST', `/assistants/${id}/versions`, { limit: 10 });
    const numbers = Array.isArray(body) ? body.map((each) => Number(field(each, 'version'))) : [];
    return numbers.toSorted((a, b) => a - b).join(', ');
  }),
  row('`/assistants/search` by a part of the `name`', async (server) => {
    await server.assistant({ name: 'Looked for' });
    return `${count((await server.ask('POST', '/assistants/search', { name: 'looked' })).body)} found`;
  }),
  row('`/assistants/search` with `select` returns only those fields', async (server) => {
    const { body } = await server.ask('POST', '/assistants/search', { limit: 1, select: ['name'] });
    return code(Object.keys(Object(field(body, 0))));
  }),
  row('each result has a `config`', async (server) => {
    const { body } = await server.ask('POST', '/assistants/search', { graph_id: 'greeter', limit: 1 });
    return code(field(body, 0, 'config') === undefined ? undefined : true);
  }),
  row('`/assistants/search` by a part of the `metadata`', async (server) => {
    const of = randomUUID();
    await server.assistant({ metadata: { of, more: true } });
    const { body } = await server.ask('POST', '/assistants/search', { metadata: { of } });
    return `${count(body)} found`;
  }),
  row('`x-pagination-total` has the total of a search', async (server) => {
    const of = randomUUID();
    for (const name of ['a', 'b']) await server.assistant({ name, metadata: { of } });
    const page = await server.ask('POST', '/assistants/search', { metadata: { of }, limit: 1 });
    return `${count(page.body)} of ${page.header('x-pagination-total') ?? 'unknown'}`;
  }),
  row('assistants are counted', async (server) => {
    const of = randomUUID();
    await server.assistant({ metadata: { of } });
    return code((await server.ask('POST', '/assistants/count', { metadata: { of } })).body);
  }),
  row('the schemas of a graph include the type of a context value', async (server) => {
    // The public server reads them out of the graph's source, for which it starts a compiler.
    const { status, body } = await server.ask('GET', '/assistants/greeter/schemas', undefined, 60_000);
    const names = ['input_schema', 'output_schema', 'state_schema', 'config_schema', 'context_schema'];
    const reported = names.filter((name) => field(body, name, 'properties'));
    const type = code(field(body, 'context_schema', 'properties', 'greeting', 'type'));
    return `${status} with ${reported.length} of ${names.length}, ${type}`;
  }),
  row("a graph's drawing has its nodes and edges", async (server) => {
    const { status, body } = await server.ask('GET', '/assistants/slow/graph');
    return `${status} with ${count(field(body, 'nodes'))} and ${count(field(body, 'edges'))}`;
  }),
  row('with `xray` it includes subgraphs', async (server) => {
    const { status, body } = await server.ask('GET', '/assistants/outer/graph?xray=true');
    return `${status} with ${count(field(body, 'nodes'))}`;
  }),
  row('every graph has a default assistant with the uuid v5 of its name', async (server) => {
    const { body } = await server.ask('GET', '/assistants/chat');
    const made = text(body, 'metadata', 'created_by') === 'system';
    return `${made ? 'it has' : 'it has none'}, ${text(body, 'assistant_id') === ofChat ? 'with that id' : 'with another'}`;
  }),
  row('a default assistant can not be deleted', async (server) => {
    const { body } = await server.ask('GET', '/assistants/spare');
    const answered = await server.status('DELETE', `/assistants/${text(body, 'assistant_id')}`);
    return `${answered}, then ${await server.status('GET', '/assistants/spare')}`;
  }),
];
