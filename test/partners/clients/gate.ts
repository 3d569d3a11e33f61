import { once } from 'node:events';
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import * as z from 'zod';

/** An address that answers while the gate is open: a run waits there until its client has done something. */
export interface Gate extends AsyncDisposable {
  url: string;
  open: () => void;
  shut: () => void;
}

/** Opens the address, with the gate shut. Disposing of it opens the gate, so that no run is left waiting. */
export async function startGate(): Promise<Gate> {
  let isOpen = false;
  const waiting = new Set<ServerResponse>();
  const open = (): void => {
    isOpen = true;
    for (const response of waiting) response.end();
    waiting.clear();
  };
  const server = createServer((_request, response) => {
    if (isOpen) response.end();
    else waiting.add(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = z.object({ port: z.int() }).parse(server.address());
  return {
    url: `http://127.0.0.1:${port}/`,
    open,
    shut: () => {
      isOpen = false;
    },
    async [Symbol.asyncDispose]() {
      open();
      server.close();
      await once(server, 'close');
    },
  };
}
