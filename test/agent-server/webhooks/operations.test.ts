import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { WEBHOOK_OPERATIONS } from '../../../src/contract/agent/webhook.ts';
import { until } from '../promises/given.ts';
import { serveAgent } from '../serving.ts';
import type { Serving } from '../serving.ts';
import type { TemporaryAgent } from '../temporary-agent.ts';
import { hookedAgent } from './hooked-agent.ts';
import { startReceiver } from './receiver.ts';
import type { Receiver } from './receiver.ts';

/** Where many tests run at once a try takes its time. */
vi.setConfig({ testTimeout: 60_000 });

let receiver: Receiver;
let folder: TemporaryAgent;
let serving: Serving;
beforeAll(async () => {
  receiver = await startReceiver();
  folder = hookedAgent({
    webhooks: { url: { allowed_domains: ['127.0.0.1'], allowed_ports: [receiver.port] } },
  });
  serving = await serveAgent({ configPath: folder.configPath });
});
afterAll(async () => {
  await serving.close();
  folder.remove();
  await receiver.close();
});

/** The paths of the list, as the usage example spells them and as the list does. */
const spellings = WEBHOOK_OPERATIONS.flatMap((path) =>
  path.startsWith('/threads/') ? [path, path.replace('/threads/', '/thread/')] : [path],
);

/** The two ways: the routes as they are, and over HTTP. */
const ways: [string, (path: string, body: object) => Promise<Response>][] = [
  ['in process', async (path, body) => serving.fetch(new Request(`http://agent.test${path}`, post(body)))],
  ['over HTTP', (path, body) => fetch(`${serving.url}${path}`, post(body))],
];
const post = (body: object) => ({
  method: 'POST',
  body: JSON.stringify(body),
  headers: { 'content-type': 'application/json' },
});

describe.each(ways)('every operation of the list, %s', (way, send) => {
  test.each(spellings)(
    '%s takes a webhook, and refuses one that breaks the options',
    async (spelled) => {
      const { thread_id } = Object(await (await send('/threads', {})).json());
      const path = spelled.replace('{thread_id}', String(thread_id));
      const at = `${spelled.replaceAll(/\W/g, '-')}-${way.replaceAll(' ', '-')}`;
      const body = {
        assistant_id: 'hook',
        input: { word: 'hi' },
        webhook: receiver.at(`/${at}`),
        ...(path.endsWith('/crons') ? { schedule: '0 0 1 1 *' } : {}),
      };
      const taken = await send(path, body);
      expect([taken.status, await taken.text()]).toEqual([200, expect.stringMatching(/\S/)]);
      const refused = await send(path, { ...body, webhook: 'http://127.0.0.1:1/?token=geheim' });
      const told = await refused.text();
      expect([refused.status, JSON.parse(told)]).toMatchObject([
        422,
        { detail: [{ loc: ['body', 'webhook'], msg: expect.stringContaining('allowed_ports') }] },
      ]);
      expect(told).not.toContain('geheim');
      // A cron's comes when its time does.
      if (path.endsWith('/crons')) return;
      await until(async () => (receiver.to(`/${at}`).length === 1 ? true : undefined));
    },
  );
});
