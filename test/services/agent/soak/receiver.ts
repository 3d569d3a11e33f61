import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Chance } from './chance.ts';

/** The deliveries for one run. */
export interface Heard {
  /** The status in each delivery. */
  statuses: string[];
  /** Whether one says that the run failed because its processes died. */
  isGivenUp: boolean;
  /** The number of accepted deliveries. */
  taken: number;
}

/** An unreliable webhook receiver. */
export interface FlakyReceiver {
  port: number;
  /** By run id. */
  heard: ReadonlyMap<string, Heard>;
  /** From now on, accepts every delivery at once; those that hang end, to be repeated. */
  calmDown(): void;
  close(): Promise<void>;
}

type Mood = 'takes' | 'slow' | 'fails' | 'busy' | 'hangs-up' | 'hangs';

/** How long (ms) a slow response takes. */
const SLOW_MS = 1500;

/** A receiver that fails in turns: it accepts most deliveries at the second or third attempt. */
export async function startFlakyReceiver(chance: Chance): Promise<FlakyReceiver> {
  const heard = new Map<string, Heard>();
  const moods = new Map<string, Mood[]>();
  const hanging = new Set<Socket>();
  let isCalm = false;

  const draw = (): Mood[] =>
    Array.from({ length: chance.between(0, 2) }, (): Mood =>
      chance.is(0.04) ? 'hangs' : chance.one(['fails', 'busy', 'hangs-up', 'slow'] as const),
    );

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { run_id: runId, status, error } = Object(JSON.parse(await text(request)));
    const all = heard.get(runId) ?? { statuses: [], isGivenUp: false, taken: 0 };
    heard.set(runId, all);
    all.statuses.push(String(status));
    all.isGivenUp ||= ['ServerStopped', 'WorkerGone'].includes(Object(error).error);
    const waiting = moods.get(runId) ?? draw();
    moods.set(runId, waiting);
    const mood = waiting.shift() ?? 'takes';
    if (!isCalm) {
      if (mood === 'hangs') return void hanging.add(request.socket);
      if (mood === 'hangs-up') return void request.socket.destroy();
      if (mood === 'fails') return void response.writeHead(500).end('not today');
      if (mood === 'busy') return void response.writeHead(429, { 'retry-after': '1' }).end();
      if (mood === 'slow') await new Promise((resolve) => setTimeout(resolve, SLOW_MS));
    }
    all.taken += 1;
    response.writeHead(204).end();
  };

  const server = createServer((request, response) => {
    // Its sender was killed midway: the delivery will be repeated.
    answer(request, response).catch(() => request.socket.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the receiver has no port');
  return {
    port: address.port,
    heard,
    calmDown() {
      isCalm = true;
      for (const socket of hanging) socket.destroy();
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
