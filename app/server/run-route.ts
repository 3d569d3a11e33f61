import { fromJson } from '../../src/kit/json-text.ts';
import { sendText, refuse, unavailable, byteBudget, readBody } from './http-messages.ts';
import type { Clock } from '../../src/kit/clock.ts';
import type { Route } from './http-server.ts';

/** An agent's webhook about a finished run. */
export interface RunWebhook {
  intentId: string;
  token: string;
  /** Parses the body; undefined if it is not JSON, or too long. Called only for a valid token. */
  body: () => unknown;
}

/** Handles a webhook about a run, and returns the response's status. */
type ReceiveRun = (reported: RunWebhook) => Promise<{ status: number }>;

/** The longest webhook about a run (bytes): it contains the thread's state. */
const maxRunSize = 10 * 1024 * 1024;
/** The longest webhook that is parsed (bytes), because parsing blocks the event loop. */
const maxParsedSize = 256 * 1024;
const maxBufferedBytes = 64 * 1024 * 1024;

/** `POST /runs/{intent}?token=`: receives agents' webhooks about finished smoke test runs. */
export function runRoute(receiveRun: ReceiveRun, clock: Clock): Route {
  const reserve = byteBudget(maxBufferedBytes);
  return {
    method: 'POST',
    path: '/runs/:intent',
    handle: async ({ request, response, params, query }) => {
      const tooLong = { status: 413, problem: 'This is longer than 10 MB.' };
      const token = query().get('token') ?? undefined;
      if (token === undefined) {
        return refuse(request, response, { status: 401, problem: 'The token is missing.' }, clock);
      }
      if (Number(request.headers['content-length']) > maxRunSize) return refuse(request, response, tooLong, clock);
      const reservation = reserve();
      try {
        if (request.headers.expect !== undefined) response.writeContinue();
        const body = await readBody(request, maxRunSize, reservation);
        if (body.kind === 'too-long') return await refuse(request, response, tooLong, clock);
        if (body.kind === 'no-room') {
          return await refuse(request, response, unavailable('Too much is coming in at once.'), clock);
        }
        if (body.kind === 'broken') return undefined;
        const { status } = await receiveRun({
          intentId: params['intent'] ?? '',
          token,
          body: () => (body.bytes.length > maxParsedSize ? undefined : fromJson(body.bytes.toString('utf8'))),
        });
        return sendText(response, status, status < 300 ? 'taken' : 'not taken');
      } finally {
        reservation.release();
      }
    },
  };
}
