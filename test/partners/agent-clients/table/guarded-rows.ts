import { count, row } from './row.ts';
import type { Row } from './row.ts';

const hello = { assistant_id: 'greeter', input: { input: 'Ada' } };

/** For servers with access rules (users own the threads they create) and with webhooks off. */
export const guardedRows: Row[] = [
  row('with authorization (`auth`) an unknown caller is a 401', (server) => server.status('POST', '/threads', {})),
  row('users find only their own threads', async (server) => {
    await server.as('Ada').thread();
    await server.as('Bob').thread();
    return `${count((await server.as('Ada').ask('POST', '/threads/search', {})).body)} of 2 found`;
  }),
  row('a thread of another user is a 404, for runs too', async (server) => {
    const thread = await server.as('Cleo').thread();
    const read = await server.as('Dan').status('GET', `/threads/${thread}`);
    return `${read}, and ${await server.as('Dan').status('POST', `/threads/${thread}/runs/wait`, hello)}`;
  }),
  row('a refused request is a 403', (server) => server.as('Ada').status('GET', '/store/items?namespace=a&key=k')),
  row('with `http.disable_webhooks` runs accept a webhook, but none is sent', async (server) => {
    const { path, url } = server.hook();
    const { status } = await server.as('Eve').wait({ ...hello, webhook: url });
    return `${status}, and ${(await server.hooks(path, 1, 1_500)).length === 0 ? 'none is sent' : 'it is sent'}`;
  }),
];
