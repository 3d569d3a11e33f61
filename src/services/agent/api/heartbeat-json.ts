import type { Clock } from '../../../kit/clock.ts';
import { beat } from './event-stream.ts';

/** How long (ms) a response may take before newlines keep the connection alive. */
const maxWaitMs = 1000;

const encoder = new TextEncoder();

/**
 * Sends JSON that may take long. A quick result is a plain response, or passed on as the one that it is; else the
 * response starts at once, with newlines as heartbeats until the JSON is there. Valid, because JSON may begin with white
 * space.
 */
export async function heartbeatJson(
  json: Promise<string | Response>,
  { clock, onGone, headers }: { clock: Clock; onGone: () => void; headers: Record<string, string> },
): Promise<Response> {
  const all = { ...headers, 'content-type': 'application/json' };
  const waited = new AbortController();
  const soon = await Promise.race([json, clock.sleep(maxWaitMs, waited.signal)]);
  waited.abort();
  if (soon instanceof Response) return soon;
  if (typeof soon === 'string') return new Response(soon, { headers: all });
  const done = new AbortController();
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      const newline = () => controller.enqueue(encoder.encode('\n'));
      newline();
      void beat(clock, done.signal, newline);
      const finish = (text: string) => {
        if (done.signal.aborted) return;
        done.abort();
        controller.enqueue(encoder.encode(text));
        controller.close();
      };
      const text = json.then((result) => (typeof result === 'string' ? result : result.text()));
      text.then(finish, (error: unknown) => {
        done.abort();
        controller.error(error);
      });
    },
    cancel: () => {
      done.abort();
      onGone();
    },
  });
  return new Response(body, { headers: all });
}
