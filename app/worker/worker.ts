import type { Logger } from '../../src/logger.ts';
import { once } from 'node:events';
import { Worker as Thread } from 'node:worker_threads';
import type { Clock } from '../../src/clock.ts';
import type { WorkRequest, WorkResponse } from './thread.ts';

/**
 * How long one request may take on a thread that has started (ms): a file of the largest size takes less than a tenth
 * of it.
 */
const usualDeadlineMs = 10_000;

/** Memory that a thread may take (MB). */
const mostMemoryMb = 256;

/** Beside this file in the source, and beside the bundle that holds this file. */
const program = new URL(import.meta.url.endsWith('.ts') ? './thread.ts' : './app-worker.js', import.meta.url);

/** A request that was given up is tried once more: what else the machine does may have been the reason. */
const attempts = 2;

export interface WorkerOptions {
  clock: Pick<Clock, 'sleep'>;
  log: Logger;
}

/** Handles requests on a thread of its own, one after the other. */
export interface Worker {
  /** The value as JSON; undefined where the request was given up. */
  request: (request: WorkRequest) => Promise<string | undefined>;
  close: () => Promise<void>;
}

/** A thread, and its first message: undefined where it ended without one. */
interface WorkerThread {
  thread: Thread;
  start: Promise<WorkResponse | undefined>;
}

/** The next message of a thread; undefined where it ends, breaks, or is waited for no longer. */
async function next(thread: Thread, signal?: AbortSignal): Promise<WorkResponse | undefined> {
  const over = new AbortController();
  const waits = signal ? AbortSignal.any([signal, over.signal]) : over.signal;
  const message = once(thread, 'message', { signal: waits }).then(([response]: WorkResponse[]) => response);
  const exit = once(thread, 'exit', { signal: waits }).then(() => undefined);
  try {
    return await Promise.race([message, exit].map((wait) => wait.catch(() => undefined)));
  } finally {
    over.abort();
  }
}

/** Sends a request, unless its values are nested too deep. */
function isSent(thread: Thread, request: WorkRequest): boolean {
  try {
    thread.postMessage(request, []);
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

const stopping = ({ name }: WorkRequest): Error =>
  new Error(`The App is stopping. ${name} runs again after the start.`);

/**
 * Starts a thread with the first request. A request that takes too much time or memory is given up with its thread, and
 * tried once more on a new one.
 */
export function startWorker({ clock, log }: WorkerOptions, deadlineMs = usualDeadlineMs): Worker {
  let current: WorkerThread | undefined;
  let last: Promise<unknown> = Promise.resolve();
  let isClosed = false;

  function open(): WorkerThread {
    const thread = new Thread(program, { resourceLimits: { maxOldGenerationSizeMb: mostMemoryMb } });
    thread.unref();
    thread.on('error', (error) => log.error(`A worker thread failed: ${String(error)}`));
    // A thread that breaks before it has started answers nothing either.
    const started = { thread, start: next(thread) };
    thread.on('exit', () => {
      if (current === started) current = undefined;
    });
    return started;
  }

  async function requestOnce(request: WorkRequest): Promise<Exclude<WorkResponse, { kind: 'started' }> | undefined> {
    if (isClosed) throw stopping(request);
    const used = (current ??= open());
    const over = new AbortController();
    try {
      // The start of a thread takes its time on a busy machine, which is no fault of the request.
      const hasStarted = (await used.start) !== undefined;
      if (hasStarted && !isSent(used.thread, request)) return { kind: 'too-large' };
      const late = clock.sleep(deadlineMs, over.signal).catch(() => undefined);
      const response = hasStarted ? await Promise.race([next(used.thread, over.signal), late]) : undefined;
      if (response && response.kind !== 'started') return response;
      if (current === used) current = undefined;
      await used.thread.terminate();
      // A request without a thread proves nothing: the next process does its job again.
      if (isClosed) throw stopping(request);
      return undefined;
    } finally {
      over.abort();
    }
  }

  async function requestTwice(request: WorkRequest): Promise<string | undefined> {
    for (let attempt = 1; attempt <= attempts; attempt += 1) {
      const response = await requestOnce(request);
      if (response?.kind === 'failed') throw new Error(`${request.name} failed on a worker thread: ${response.stack}`);
      if (response) return response.kind === 'done' ? response.json : undefined;
    }
    return undefined;
  }

  return {
    request(request) {
      const requested = last.then(() => requestTwice(request));
      last = requested.catch(() => undefined);
      return requested;
    },
    async close() {
      isClosed = true;
      await current?.thread.terminate();
    },
  };
}
