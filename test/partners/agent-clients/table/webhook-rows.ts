import { code, field, row, text } from './row.ts';
import type { Row } from './row.ts';

const hello = { assistant_id: 'greeter', input: { input: 'Ada' } };
const failing = { assistant_id: 'greeter', input: { input: 'Ada', fail: 'no ink' } };

/** Fields of a webhook that no line of its own asks for. */
const others = [
  'run_id',
  'thread_id',
  'assistant_id',
  'status',
  'created_at',
  'updated_at',
  'metadata',
  'multitask_strategy',
];

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
    return code((await server.hooks(path))[0]?.headers['content-type']);
  }),
  row('it has `values` of a run on a thread', async (server) => {
    const { path, url } = server.hook();
    await server.wait({ ...hello, webhook: url }, await server.thread());
    return code(field(await server.hooks(path), 0, 'body', 'values', 'output'));
  }),
  row('it has none of a run without a thread', async (server) => {
    const { path, url } = server.hook();
    await server.wait({ ...hello, webhook: url });
    return code(field(await server.hooks(path), 0, 'body', 'values'));
  }),
  row('it says when the run began and ended, and when it was sent', async (server) => {
    const { path, url } = server.hook();
    await server.wait({ ...hello, webhook: url }, await server.thread());
    const body = field(await server.hooks(path), 0, 'body');
    const times = ['run_started_at', 'run_ended_at', 'webhook_sent_at'].map((name) => Date.parse(text(body, name)));
    return times.every((time, at) => time >= (times[at - 1] ?? 0)) ? 'it does, in this order' : 'it does not';
  }),
  row('it has every other field of the table', async (server) => {
    const { path, url } = server.hook();
    await server.wait({ ...hello, webhook: url }, await server.thread());
    const body = field(await server.hooks(path), 0, 'body');
    const lacking = others.filter((name) => field(body, name) === undefined);
    return lacking.length === 0 ? 'it does' : `not ${lacking.map((name) => `\`${name}\``).join(', ')}`;
  }),
  row('its `kwargs` hold the input of the run', async (server) => {
    const { path, url } = server.hook();
    await server.wait({ ...hello, webhook: url }, await server.thread());
    return code(field(await server.hooks(path), 0, 'body', 'kwargs', 'input'));
  }),
  row('the headers of `webhooks.headers` go with it', async (server) => {
    const { path, url } = server.hook();
    await server.wait({ ...hello, webhook: url });
    return code((await server.hooks(path))[0]?.headers['x-from']);
  }),
  row('one of them names a variable that begins with `env_prefix`', async (server) => {
    const { path, url } = server.hook();
    await server.wait({ ...hello, webhook: url });
    return code((await server.hooks(path))[0]?.headers['x-token']);
  }),
  row('a header that names a variable which is not set stops the start', async ({ server }) => {
    const headers = { 'x-token': '${{ env.LG_WEBHOOK_NOT_THERE }}' };
    const words = await server.tryToStart({ webhooks: { headers } }).then(
      () => 'it starts',
      (error: unknown) => String(error),
    );
    return words.includes('LG_WEBHOOK_NOT_THERE') ? 'it does not start, and names the variable' : words;
  }),
  row('it comes again where the receiver answered 503', async (server) => {
    const { path, url } = server.hook();
    server.server.receiver.answer(path, 503, 200);
    await server.wait({ ...hello, webhook: url }, await server.thread());
    return `it came ${(await server.hooks(path, 2, 12_000)).length === 2 ? 'twice' : 'once'}`;
  }),
  row('a webhook that is no URL is a 422', (server) =>
    server.status('POST', '/runs/wait', { ...hello, webhook: 'not a url' }),
  ),
  row('one to a host that is not among `allowed_domains` is a 422', (server) =>
    server.status('POST', '/runs/wait', { ...hello, webhook: 'https://elsewhere.example/hook' }),
  ),
  row('one to a port that is not among `allowed_ports` is a 422', async (server) => {
    // A port where somebody listens: the public server sends it there.
    const { port } = new URL(server.server.url);
    return server.status('POST', '/runs/wait', { ...hello, webhook: `http://127.0.0.1:${port}/ok` });
  }),
  row('a path of the server itself is a 422 with `disable_loopback`', (server) =>
    server.status('POST', '/runs/wait', { ...hello, webhook: '/threads/search' }),
  ),
  row('one that is longer than `max_url_length` is a 422', (server) =>
    server.status('POST', '/runs/wait', { ...hello, webhook: server.hook().url.padEnd(501, 'x') }),
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

/** Asked of servers that were started again, by which webhooks go to `https://` only. */
export const strictWebhookRows: Row[] = [
  row('with `require_https` a webhook to `http://` is a 422', (server) =>
    server.status('POST', '/runs/wait', { ...hello, webhook: server.hook().url }),
  ),
];
