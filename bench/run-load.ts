// Runs of a graph, several at once, started by their own process: over HTTP, or by the engine alone.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import * as z from 'zod';

const RoundRequestSchema = z.object({
  /** Waited for, or followed to the last event. */
  kind: z.enum(['wait', 'stream', 'thread-and-wait', 'tokens', 'alone']),
  /** How many runs; fewer where they take longer than `withinMs` (milliseconds). */
  count: z.int(),
  withinMs: z.number().optional(),
  atOnce: z.int(),
});
/**
 * What one round does. `thread-and-wait` makes the thread as a part of the run, `alone` keeps its state in memory; the
 * others run on new threads that exist.
 */
export type RoundRequest = z.infer<typeof RoundRequestSchema>;

export const Round = z.object({
  perSecond: z.number(),
  /** How long each run took (ms), a streamed one to its last event. */
  times: z.array(z.number()),
  /** Of streams: until their first event (ms). */
  toFirst: z.array(z.number()),
  /** Streams: time to the first node update (ms). */
  toFirstUpdate: z.array(z.number()),
});
export type RunRound = z.infer<typeof Round>;

const Reply = z.union([z.object({ ready: z.literal(true) }), Round]);

/** Times of one run's events (ms since its start). */
export interface RunTimes {
  last: number;
  first?: number;
  firstUpdate?: number;
}

/** Prepares what the runs of a round need, which is not timed; resolves with a function that does one run. */
export type PrepareRuns = (requested: RoundRequest) => Promise<() => Promise<RunTimes>>;

/** A contender's process. */
export interface RunLoad extends AsyncDisposable {
  pid: number;
  round(requested: RoundRequest): Promise<RunRound>;
}

/** Starts `file`, which answers with `loadRuns`. A run that goes wrong ends it, and the measurement. */
export async function startRunLoad(file: string, ...given: string[]): Promise<RunLoad> {
  const child = fork(file, given, { stdio: ['ignore', 2, 'inherit', 'ipc'] });
  const gone = once(child, 'exit').then(([code]: unknown[]) =>
    Promise.reject(new Error(`the load of ${file} ended: ${String(code)}`)),
  );
  gone.catch(() => undefined);
  const next = async () => {
    const [message]: unknown[] = await Promise.race([once(child, 'message'), gone]);
    return Reply.parse(message);
  };
  await next();
  return {
    pid: z.int().parse(child.pid),
    async round(requested) {
      const notes = next();
      child.send(requested);
      const answer = await notes;
      if (!('times' in answer)) throw new Error('the load process did not return the times of its round');
      return answer;
    },
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode !== null) return;
      const over = once(child, 'exit');
      child.disconnect();
      await over;
    },
  };
}

/** The child process's side: call it from the file's entry point. The process exits with its parent. */
export function loadRuns(prepare: PrepareRuns): void {
  process.on('disconnect', () => process.exit());
  process.on('message', (message) => {
    const requested = RoundRequestSchema.parse(message);
    void prepare(requested)
      .then((run) => roundOf(requested, run))
      .then((round) => process.send?.(round));
  });
  process.send?.({ ready: true });
}

/** Does the runs of a round; each parallel worker starts its next run when the previous one has ended. */
export async function roundOf(
  { count, atOnce, withinMs = Infinity }: Omit<RoundRequest, 'kind'>,
  run: () => Promise<RunTimes>,
): Promise<RunRound> {
  const all: RunTimes[] = [];
  let left = count;
  const began = performance.now();
  const one = async (): Promise<void> => {
    while (left > 0 && performance.now() - began < withinMs) {
      left -= 1;
      all.push(await run());
    }
  };
  await Promise.all(Array.from({ length: atOnce }, one));
  return {
    perSecond: (all.length / (performance.now() - began)) * 1000,
    times: all.map(({ last }) => last),
    toFirst: all.flatMap(({ first }) => first ?? []),
    toFirstUpdate: all.flatMap(({ firstUpdate }) => firstUpdate ?? []),
  };
}
