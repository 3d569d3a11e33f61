import { code, field, row, text } from './row.ts';
import type { Row } from './row.ts';

const hello = { assistant_id: 'greeter', input: { input: 'Ada' } };
const failing = { assistant_id: 'greeter', input: { input: 'Ada', fail: 'no ink' } };

/** Webhook fields without a row of their own. */
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
  row('the webhook of a successful run has `error: null`', async (server) => {
    const { path, url } = server.hook();
    await server.wait({ ...hello, webhook: url }, await server.thread());
    return code(field(await server.hooks(path), 0, 'body', 'error'));
  }),
  row('for a failed run, `error` is an object', async (server) => {
    const { path, url } = server.hook();
    await server.wait({ ...failing, webhook: url }, await server.thread());
    return code(field(await server.hooks(path), 0, 'body', 'error'));
  }),
  row('its content type is JSON', async (server) => {
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
  row("it has the times of the run's start and end, and of sending", async (server) => {
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
  row('it has the headers of `webhooks.headers`', async (server) => {
    const { path, url } = server.hook();
    await server.wait({ ...hello, webhook: url });
    return code((await server.hooks(path))[0]?.headers['x-from']);
  }),
  row('a header may use a variable with the prefix `env_prefix`', async (server) => {
    const { path, url } = server.hook();
    await server.wait({ ...hello, webhook: url });
    return code((await server.hooks(path))[0]?.headers['x-token']);
  }),
  row('a header with an unset variable stops the start', async ({ server }) => {
    const headers = { 'x-token': '${{ env.LG_WEBHOOK_NOT_THERE }}' };
    const words = await server.tryToStart({ webhooks: { headers } }).then(
      () => 'it starts',
      (error: unknown) => String(error),
    );
    return words.includes('LG_WEBHOOK_NOT_THERE') ? 'it does not start, and names the variable' : words;
  }),
  row('it is retried after a 503', async (server) => {
    const { path, url } = server.hook();
    server.server.receiver.answer(path, 503, 200);
    await server.wait({ ...hello, webhook: url }, await server.thread());
    return `delivered ${(await server.hooks(path, 2, 12_000)).length === 2 ? 'twice' : 'once'}`;
  }),
  row('a webhook with an invalid URL is a 422', (server) =>
    server.status('POST', '/runs/wait', { ...hello, webhook: 'not a url' }),
  ),
  row('a webhook to a host outside `allowed_domains` is a 422', (server) =>
    server.status('POST', '/runs/wait', { ...hello, webhook: 'https://other.example/hook' }),
  ),
  row('a webhook to a port outside `allowed_ports` is a 422', async (server) => {
    // A port with a listener: the public server sends it there.
    const { port } = new URL(server.server.url);
    return server.status('POST', '/runs/wait', { ...hello, webhook: `http://127.0.0.1:${port}/ok` });
  }),
  row('a loopback webhook is a 422 with `disable_loopback`', (server) =>
    server.status('POST', '/runs/wait', { ...hello, webhook: '/threads/search' }),
  ),
  row('a webhook longer than `max_url_length` is a 422', (server) =>
    server.status('POST', '/runs/wait', { ...hello, webhook: server.hook().url.padEnd(501, 'x') }),
  ),
  row('`/thread/{thread_id}/runs` creates runs too', async (server) =>
    server.status('POST', `/thread/${await server.thread()}/runs`, hello),
  ),
];

/** These requests may crash the server, so it may need a restart. */
export const deadlyWebhookRows: Row[] = [
  row('after twelve undelivered webhooks, a run still ends', async (server) => {
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

/** For servers restarted with webhooks limited to `https://`. */
export const strictWebhookRows: Row[] = [
  row('with `require_https` a webhook to `http://` is a 422', (server) =>
    server.status('POST', '/runs/wait', { ...hello, webhook: server.hook().url }),
  ),
];
