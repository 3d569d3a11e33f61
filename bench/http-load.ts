// Sends requests from its own process over kept-alive connections, so that the server is not charged for sending.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Pool } from 'undici';
import * as z from 'zod';

const Sent = z.object({
  method: z.enum(['GET', 'PATCH']),
  path: z.string(),
  headers: z.record(z.string(), z.string()),
  body: z.string().optional(),
});
/** One request as it goes out. */
export type SentRequest = z.infer<typeof Sent>;

const RoundRequest = z.object({ requests: z.array(Sent), atOnce: z.int() });
const Reply = z.union([z.object({ ready: z.literal(true) }), z.object({ ms: z.number() })]);

/** Who sends requests to a server of this machine. */
export interface HttpLoad extends AsyncDisposable {
  /** Sends them all, so many at once; resolves with how long it took until the last answer (ms). */
  send(requests: readonly SentRequest[], atOnce: number): Promise<number>;
}

/** Starts who sends. An answer that is no success ends it, and the measurement. */
export async function startHttpLoad(origin: string): Promise<HttpLoad> {
  const child = fork(import.meta.filename, [origin], { stdio: ['ignore', 2, 'inherit', 'ipc'] });
  const gone = once(child, 'exit').then(([code]: unknown[]) =>
    Promise.reject(new Error(`the load ended: ${String(code)}`)),
  );
  gone.catch(() => undefined);
  const next = async () => {
    const [message]: unknown[] = await Promise.race([once(child, 'message'), gone]);
    return Reply.parse(message);
  };
  await next();
  return {
    async send(requests, atOnce) {
      const notes = next();
      child.send({ requests, atOnce });
      const answer = await notes;
      if (!('ms' in answer)) throw new Error('the load process did not return its duration');
      return answer.ms;
    },
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode !== null) return;
      const over = once(child, 'exit');
      child.disconnect();
      await over;
    },
  };
}

function load(origin: string): void {
  const pool = new Pool(origin, { pipelining: 1 });
  const sending = async (next: () => SentRequest | undefined): Promise<void> => {
    for (let request = next(); request; request = next()) {
      const { body, ...rest } = request;
      const answer = await pool.request({ ...rest, ...(body === undefined ? {} : { body }) });
      const text = await answer.body.text();
      if (answer.statusCode >= 300) throw new Error(`${rest.method} ${rest.path}: ${answer.statusCode} ${text}`);
    }
  };
  process.on('disconnect', () => process.exit());
  process.on('message', (message) => {
    const { requests, atOnce } = RoundRequest.parse(message);
    let at = 0;
    const began = performance.now();
    void Promise.all(Array.from({ length: atOnce }, () => sending(() => requests[at++]))).then(() =>
      process.send?.({ ms: performance.now() - began }),
    );
  });
  process.send?.({ ready: true });
}

if (import.meta.main) load(process.argv[2] ?? '');
