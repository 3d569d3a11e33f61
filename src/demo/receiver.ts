import { once } from 'node:events';
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { WebhookReceived } from '../contract/agent/webhook.ts';

/** A receiver of the agent's webhooks on this machine. */
export interface Receiver {
  port: number;
  /** The address of a run's webhook, with a word that identifies the sender. */
  addressFor(word: string): string;
  /** The webhooks received at such an address: each run once, however often it was sent. */
  reported(word: string): readonly WebhookReceived[];
  stop(): Promise<void>;
}

/** Takes webhooks at a free port of the loopback, and answers 204 to each that has a run in it. */
export async function startReceiver(): Promise<Receiver> {
  const reported = new Map<string, Map<string, WebhookReceived>>();
  const take = async (path: string, body: Promise<unknown>): Promise<number> => {
    const read = WebhookReceived.safeParse(await body.catch(() => undefined));
    if (!read.success) return 400;
    const runs = reported.get(path) ?? new Map<string, WebhookReceived>();
    reported.set(path, runs.set(read.data.run_id, read.data));
    return 204;
  };
  const server = createServer((request, response) => {
    void take(request.url ?? '', json(request)).then((status) => response.writeHead(status).end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The receiver listens at no port.');
  const { port } = address;
  return {
    port,
    addressFor: (word) => `http://127.0.0.1:${port}/${word}`,
    reported: (word) => [...(reported.get(`/${word}`)?.values() ?? [])],
    async stop() {
      const closed = new Promise<void>((done) => server.close(() => done()));
      server.closeAllConnections();
      await closed;
    },
  };
}
