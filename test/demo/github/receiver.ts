import { once } from 'node:events';
import { createServer } from 'node:http';
import { Webhooks } from '@octokit/webhooks';

/** One received webhook. */
export interface Received {
  event: string;
  guid: string;
  /** Whether the signature matches the App's secret. */
  isSigned: boolean;
  payload: Record<string, unknown>;
}

/** An App that only receives webhooks. */
export interface Receiver {
  url: string;
  received: Received[];
  /** Those of one event, and of one action if that follows a dot. */
  of(name: string): Received[];
  /** Sets the response from now on. */
  answer(status: number): void;
  close(): Promise<void>;
}

export async function startReceiver(secret: string): Promise<Receiver> {
  const received: Received[] = [];
  const webhooks = new Webhooks({ secret });
  let status = 202;
  const server = createServer((request, response) => {
    void (async () => {
      let body = '';
      for await (const chunk of request) body += String(chunk);
      const payload: Record<string, unknown> = JSON.parse(body);
      const header = (name: string): string => String(request.headers[name]);
      const isSigned = await webhooks.verify(body, header('x-hub-signature-256'));
      received.push({ event: header('x-github-event'), guid: header('x-github-delivery'), isSigned, payload });
      response.writeHead(status).end('taken');
    })();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/`,
    received,
    of(name) {
      const [event, action] = name.split('.');
      return received.filter(
        (each) => each.event === event && (action === undefined || each.payload['action'] === action),
      );
    },
    answer(next) {
      status = next;
    },
    async close() {
      server.close();
      server.closeAllConnections();
      if (server.listening) await once(server, 'close');
    },
  };
}
