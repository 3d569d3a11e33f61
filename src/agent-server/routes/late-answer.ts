import type { Clock } from '../../clock.ts';
import { beat } from './event-stream.ts';

/** How long (ms) an answer may take before the connection is kept alive by newlines. */
const MAX_WAIT_MS = 1000;

const encoder = new TextEncoder();

/**
 * JSON that may take long. What comes soon is a plain answer; else the answer begins at once, and newlines keep the
 * connection alive until the JSON is there. A reader trims them: JSON may begin with white space.
 */
export async function lateAnswer(
  json: Promise<string>,
  { clock, onGone, headers }: { clock: Clock; onGone: () => void; headers: Record<string, string> },
): Promise<Response> {
  const all = { ...headers, 'content-type': 'application/json' };
  const waited = new AbortController();
  const soon = await Promise.race([json, clock.sleep(MAX_WAIT_MS, waited.signal)]);
  waited.abort();
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
      json.then(finish, (error: unknown) => {
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
