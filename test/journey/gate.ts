import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { Repository } from '../../src/demo/repository.ts';

/** Holds builds for as long as a test needs. */
export interface Gate {
  /** The build command: reports its process id, and exits when the gate opens. */
  command: string;
  /** The id of the process that waits, once one does. */
  reached(): Promise<number>;
  open(): void;
  /** Closes it again for the next build. */
  close(): void;
  /** Removes the gate; waiting builds fail. */
  remove(): Promise<void>;
}

const script = (url: string): string => `const answer = await fetch('${url}' + process.pid);
if (!answer.ok) process.exit(1);
`;

/**
 * Adds a gate to a repository, from its next commit on. It is a URL, since a build may run as a user without access to
 * the journey's folder.
 */
export async function placeGate(repository: Repository): Promise<Gate> {
  let isOpen = false;
  let waiting: { pid: number; answer: ServerResponse }[] = [];
  const server = createServer((request, answer) => {
    const pid = Number(request.url?.slice(1));
    if (isOpen) {
      answer.end();
      return;
    }
    waiting.push({ pid, answer });
    // A killed build does not wait any more.
    answer.on('close', () => (waiting = waiting.filter((one) => one.answer !== answer)));
    server.emit('reached');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the gate listens on no port');
  await writeFile(join(repository.folder, 'gate.mjs'), script(`http://127.0.0.1:${address.port}/`));
  return {
    command: 'node gate.mjs',
    async reached() {
      while (waiting[0] === undefined) await once(server, 'reached');
      return waiting[0].pid;
    },
    open() {
      isOpen = true;
      for (const { answer } of waiting) answer.end();
    },
    close() {
      isOpen = false;
    },
    async remove() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
