import { code, field, row } from './row.ts';
import type { Row } from './row.ts';

const hello = { assistant_id: 'greeter', input: { input: 'Ada' } };
const failing = { assistant_id: 'greeter', input: { input: 'Ada', fail: 'no ink' } };

export const webhookRows: Row[] = [
  row('a webhook of a run that went well has `error: null`', async (server) => {
    const { path, url } = server.hook();
    await server.wait({ ...hello, webhook: url }, await server.thread());
    return code(field(await server.hooks(path), 0, 'body', 'error'));
  }),
  row('of a run that failed, `error` is an object', async (server) => {
    const { path, url } = server.hook();
    await server.wait({ ...failing, webhook: url }, await server.thread());
    return code(field(await server.hooks(path), 0, 'body', 'error'));
  }),
  row('it is JSON and says so', async (server) => {
    const { path, url } = server.hook();
    await server.wait({ ...hello, webhook: url }, await server.thread());
    return code((await server.hooks(path))[0]?.type);
  }),
  row('it has `values` of a run on a thread', async (server) => {
    const { path, url } = server.hook();
    await server.wait({ ...hello, webhook: url }, await server.thread());
    return code(field(await server.hooks(path), 0, 'body', 'values', 'output'));
  }),
  row('it comes again where the receiver answered 503', async (server) => {
    const { path, url } = server.hook();
    server.server.receiver.answer(path, 503, 200);
    await server.wait({ ...hello, webhook: url }, await server.thread());
    return `it came ${(await server.hooks(path, 2, 4_000)).length === 2 ? 'twice' : 'once'}`;
  }),
  row('a webhook that is no URL is a 422', (server) =>
    server.status('POST', '/runs/wait', { ...hello, webhook: 'not a url' }),
  ),
  row('one that the configuration of the agent does not allow is a 422', (server) =>
    server.status('POST', '/runs/wait', { ...hello, webhook: 'https://elsewhere.example/hook' }),
  ),
  row('runs are made at `/thread/{thread_id}/runs` as well', async (server) =>
    server.status('POST', `/thread/${await server.thread()}/runs`, hello),
  ),
];

/** Whoever is asked this may have to be started again. */
export const deadlyWebhookRows: Row[] = [
  row('after twelve webhooks that nobody takes, a run still ends', async (server) => {
    const { path, url } = server.hook();
    server.server.receiver.answer(path, 'hang-up');
    for (let n = 0; n < 12; n++) {
      const ended = await server.ask('POST', '/runs/wait', { ...hello, webhook: url }, 4_000).catch(() => undefined);
      if (!ended) break;
    }
    const ended = await server.ask('POST', '/runs/wait', hello, 4_000).catch(() => undefined);
    return `${ended ? 'it does' : 'it hangs'}, while \`/ok\` is ${await server.status('GET', '/ok')}`;
  }),
];
