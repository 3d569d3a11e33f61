import { Agent, request, type RequestOptions } from 'node:http';
import { systemClock } from '../../../../src/kit/clock.ts';
import { keyHeader } from './running-service.ts';

/** The outcome of the calls of a load. */
export interface Tally {
  plain: number;
  streams: number;
  /** Every call that failed, in words. */
  failed: string[];
}

/** A steady load on an agent's address: calls and streams, over new and kept-alive connections. */
export interface SteadyLoad {
  tally: Tally;
  /** Starts no more calls; resolves when all started ones have ended. */
  end(): Promise<void>;
}

/** The pause between two calls of one client, which leaves this process time for the service. */
const betweenMs = 10;

interface Answer {
  status: number;
  text: string;
}

function call(url: string, options: Pick<RequestOptions, 'agent' | 'method'>, body?: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { ...options, headers: keyHeader }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.once('end', () => resolve({ status: response.statusCode ?? 0, text }));
      response.once('error', reject);
    });
    sent.once('error', reject);
    sent.end(body);
  });
}

/** Puts the load on an address. */
export function steadyLoad(url: string): SteadyLoad {
  const tally: Tally = { plain: 0, streams: 0, failed: [] };
  const kept = new Agent({ keepAlive: true });
  const state = { going: true };

  async function again(what: 'plain' | 'streams', once: () => Promise<Answer>, isWhole: (text: string) => boolean) {
    while (state.going) {
      try {
        const { status, text } = await once();
        if (status === 200 && isWhole(text)) tally[what] += 1;
        else tally.failed.push(`${what}: ${status} ${text.slice(-200)}`);
      } catch (error) {
        tally.failed.push(`${what}: ${String(error)}`);
      }
      await systemClock.sleep(betweenMs);
    }
  }
  const isOk = (text: string): boolean => text.startsWith('{"ok":true');
  const isStream = (text: string): boolean => {
    const pieces = text.split('\n\n').slice(0, -1);
    // Twenty chunks of the same revision, and the end.
    return pieces.length === 21 && pieces[20] === 'data: end' && new Set(pieces).size === 2;
  };
  const callers = [
    ...[kept, kept, false as const, false as const].map((agent) =>
      again('plain', () => call(`${url}/ok`, { agent }), isOk),
    ),
    ...[kept, false as const].map((agent) =>
      again('plain', () => call(`${url}/ok`, { agent, method: 'POST' }, 'x'.repeat(20_000)), isOk),
    ),
    ...Array.from({ length: 12 }, (_, at) =>
      again('streams', () => call(`${url}/stream`, { agent: at % 2 === 0 ? kept : false }), isStream),
    ),
  ];
  return {
    tally,
    async end() {
      state.going = false;
      await Promise.all(callers);
      kept.destroy();
    },
  };
}
