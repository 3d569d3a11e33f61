import { code, count, field, row, text } from './row.ts';
import type { Asking, Row } from './row.ts';

const greeting = async (server: Asking, assistant: string): Promise<string> =>
  text((await server.wait({ assistant_id: assistant, input: { input: 'you' } })).body, 'output');

export const assistantRows: Row[] = [
  row('an assistant of a graph that is not there is a 404', (server) =>
    server.status('POST', '/assistants', { graph_id: 'nothing' }),
  ),
  row('a context that breaks the schema of the graph is a 422', (server) =>
    server.status('POST', '/assistants', { graph_id: 'greeter', context: { greeting: 5 } }),
  ),
  row('a run with a context that breaks the schema of the graph is a 422', (server) =>
    server.status('POST', '/runs/wait', { assistant_id: 'greeter', input: { input: 'x' }, context: { greeting: 5 } }),
  ),
  row('`POST .../latest` with version 1: runs have the context of version 1 again', async (server) => {
    const id = await server.assistant({ context: { greeting: 'one' } });
    await server.ask('PATCH', `/assistants/${id}`, { context: { greeting: 'two' } });
    await server.ask('POST', `/assistants/${id}/latest`, { version: 1 });
    return `they answer "${await greeting(server, id)}"`;
  }),
  row('`POST .../latest` with a version that is not there is a 404 and changes nothing', async (server) => {
    const id = await server.assistant({ context: { greeting: 'one' } });
    const answered = await server.status('POST', `/assistants/${id}/latest`, { version: 7 });
    return `${answered}, then version ${code(field((await server.ask('GET', `/assistants/${id}`)).body, 'version'))}`;
  }),
  row('`PATCH` without a `context` keeps the one there is', async (server) => {
    const id = await server.assistant({ context: { greeting: 'one' } });
    const changed = await server.ask('PATCH', `/assistants/${id}`, { name: 'Other' });
    return code(field(changed.body, 'context'));
  }),
  row('five `PATCH`es at once make the versions 2 to 6', async (server) => {
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
  row('`/assistants/search` with `select` answers only those fields', async (server) => {
    const { body } = await server.ask('POST', '/assistants/search', { limit: 1, select: ['name'] });
    return code(Object.keys(Object(field(body, 0))));
  }),
  row('the default assistant of a graph can not be deleted', async (server) => {
    const { body } = await server.ask('GET', '/assistants/outer');
    const answered = await server.status('DELETE', `/assistants/${text(body, 'assistant_id')}`);
    return `${answered}, then ${await server.status('GET', '/assistants/outer')}`;
  }),
];
