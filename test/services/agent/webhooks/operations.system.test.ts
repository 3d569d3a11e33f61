import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { webhookOperations } from '../../../../src/contract/agent/webhook.ts';
import { until } from '../promises/fixture.ts';
import { serveAgent } from '../serving.ts';
import type { Serving } from '../serving.ts';
import type { TemporaryAgent } from '../temporary-agent.ts';
import { hookedAgent } from './hooked-agent.ts';
import { expectTable } from './payload-table.ts';
import { startReceiver } from './receiver.ts';
import type { Receiver } from './receiver.ts';

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

/** The listed paths, as in the usage example and as in the list. */
const spellings = webhookOperations.flatMap((path) =>
  path.startsWith('/threads/') ? [path, path.replace('/threads/', '/thread/')] : [path],
);

const both = ['prepare', 'say'];

interface Ended {
  error: { error: string; message: string } | null;
  /** The values of the thread besides its `word`. */
  values: Record<string, unknown>;
}

const post = (body: object) => ({
  method: 'POST',
  body: JSON.stringify(body),
  headers: { 'content-type': 'application/json' },
});

const isCron = (path: string): boolean => path.endsWith('/crons');

describe('every listed operation, over HTTP', () => {
  const send = (path: string, body: object): Promise<Response> => fetch(`${serving.url}${path}`, post(body));
  /** Prepares a request for an operation, with a new thread if it needs one. */
  const requested = async (spelled: string, name: string, input: Record<string, unknown>) => {
    const isOnThread = spelled.includes('{thread_id}');
    const { thread_id } = isOnThread ? Object(await (await send('/threads', {})).json()) : {};
    const threadId = isOnThread ? String(thread_id) : undefined;
    const at = `/${name}${spelled.replaceAll(/\W/g, '-')}`;
    const body = {
      assistant_id: 'hook',
      input,
      metadata: { by: at },
      config: { tags: ['t'] },
      webhook: receiver.at(`${at}?token=t`),
      multitask_strategy: 'interrupt',
      ...(isCron(spelled) ? { schedule: '0 0 1 1 *' } : {}),
    };
    return { path: spelled.replace('{thread_id}', threadId ?? ''), at, body, threadId };
  };

  test.each(spellings)('%s accepts a webhook, and rejects one that breaks the options', async (spelled) => {
    const { path, body } = await requested(spelled, 'taken', { word: 'hi' });
    const taken = await send(path, body);
    expect([taken.status, await taken.text()]).toEqual([200, expect.stringMatching(/\S/)]);
    const refused = await send(path, { ...body, webhook: 'http://127.0.0.1:1/?token=geheim' });
    const reported = await refused.text();
    expect([refused.status, JSON.parse(reported)]).toMatchObject([
      422,
      { detail: [{ loc: ['body', 'webhook'], msg: expect.stringContaining('allowed_ports') }] },
    ]);
    expect(reported).not.toContain('geheim');
  });

  // `crons/webhooks.test.ts` checks the webhooks of crons against the same table.
  test.each(
    spellings
      .filter((path) => !isCron(path))
      .flatMap((path): [string, string, string, Record<string, unknown>, Ended][] => [
        [path, 'success', 'went well', { word: 'hi' }, { error: null, values: { said: 'said hi', steps: both } }],
        [
          path,
          'error',
          'failed',
          { word: 'hi', fail: 'no ink' },
          { error: { error: 'OutOfInk', message: 'no ink' }, values: { fail: 'no ink', steps: ['prepare'] } },
        ],
      ]),
  )('%s sends every field of the table, %s: the run %s', async (spelled, status, _, input, { error, values }) => {
    const { path, at, body, threadId } = await requested(spelled, status, input);
    const answer = await send(path, body);
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringMatching(/\S/)]);
    const [received] = await until(async () => (receiver.to(at).length > 0 ? receiver.to(at) : undefined));
    if (!received) throw new Error('no webhook arrived');
    expectTable(received, {
      threadId,
      status,
      metadata: { by: at, graph_id: 'hook' },
      input,
      webhook: body.webhook,
      multitaskStrategy: 'interrupt',
      values: threadId === undefined ? undefined : { word: 'hi', ...values },
      error,
    });
  });
});
