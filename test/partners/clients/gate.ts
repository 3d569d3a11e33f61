import { once } from 'node:events';
import { createServer } from 'node:http';
import * as z from 'zod';

/** An address that answers once the gate is open: a run waits there until its client has done something. */
export interface Gate extends AsyncDisposable {
  url: string;
  open: () => void;
}

/** Opens the address, with the gate shut. Disposing of it opens the gate, so that no run is left waiting. */
export async function startGate(): Promise<Gate> {
  const opened = Promise.withResolvers<void>();
  const server = createServer((_request, response) => void opened.promise.then(() => response.end()));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = z.object({ port: z.int() }).parse(server.address());
  return {
    url: `http://127.0.0.1:${port}/`,
    open: opened.resolve,
    async [Symbol.asyncDispose]() {
      opened.resolve();
      server.close();
      await once(server, 'close');
    },
  };
}
