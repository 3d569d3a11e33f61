import { createServer, request as send } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';

/** What happens to a request: it passes, its response is lost, or it never arrives. */
export type Fate = 'passes' | 'answer lost' | 'never arrives';

/** A proxy between a client and a service, on loopback. */
export interface CuttingProxy {
  url: string;
  /** `METHOD /path` of every request, in order. */
  requests: string[];
  /** The complete body of every request. */
  bodies: string[];
  close(): Promise<void>;
}

/**
 * Starts it. `fateOf` decides what happens to each request (`METHOD /path`), and may delay it. `more` are headers added
 * to every request.
 */
export async function startCuttingProxy(
  service: string,
  fateOf: (request: string) => Fate | Promise<Fate>,
  more: Readonly<Record<string, string>> = {},
): Promise<CuttingProxy> {
  const requests: string[] = [];
  const bodies: string[] = [];

  async function handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const name = `${incoming.method} ${(incoming.url ?? '').split('?')[0]}`;
    requests.push(name);
    const fate = await fateOf(name);
    const cut = (): void => void incoming.socket.resetAndDestroy();
    if (fate === 'never arrives') {
      incoming.resume().once('end', cut);
      return;
    }
    const { host: _, ...own } = incoming.headers;
    const headers = { ...own, ...more };
    const through = send(new URL(incoming.url ?? '/', service), { method: incoming.method, headers }, (answer) => {
      if (fate === 'answer lost') {
        answer.resume().once('end', cut);
        return;
      }
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    through.once('error', cut);
    const body = await text(incoming);
    if (body !== '') bodies.push(body);
    through.end(body);
  }

  const server = createServer((incoming, outgoing) => {
    // A client that disconnects while it sends.
    handle(incoming, outgoing).catch(() => incoming.socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The proxy listens at no port.');
  return {
    url: `http://127.0.0.1:${address.port}`,
    requests,
    bodies,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
