import { constants } from 'node:os';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { stackOf } from '../../src/kit/errors.ts';
import type { Clock } from '../../src/kit/clock.ts';
import type { Logger } from '../../src/kit/logger.ts';
import { createTurns, type InputOwner } from './turns.ts';

/** How a process ended: its exit code, or the signal that ended it. */
export interface ProcessEnd {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** Signals that come from outside: a person, a supervisor, or the kernel where the machine's memory runs out. */
const outsideSignals = new Set<number | undefined>(
  (['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT'] as const).map((name) => constants.signals[name]),
);

/**
 * Whether a process was ended from outside, by no fault that it shows itself. V8 ends a process without heap by
 * `SIGABRT` (or a trap), broken native code gets `SIGSEGV` or `SIGBUS`, and an error exits with a code. The kernel's
 * `SIGKILL` may be due to the memory of this process or of any other one, so it proves nothing.
 */
export function isEndedFromOutside({ code, signal }: ProcessEnd): boolean {
  // A shell, or a program that starts others, reports a signal as 128 and its number.
  const number = signal === null ? (code ?? 0) - 128 : constants.signals[signal];
  return outsideSignals.has(number);
}

/**
 * How long one request may take in a process that has started (ms): a file of the largest size takes less than a tenth
 * of it.
 */
const usualDeadlineMs = 10_000;

/** Memory that the values of a process may take (MB): V8 ends a process that needs more, and no error is caught. */
const usualMemoryMb = 256;

/** Beside this file in the source, and beside the bundle that holds this file. */
const program = new URL(import.meta.url.endsWith('.ts') ? './worker-process.ts' : './app-worker.js', import.meta.url);

/**
 * A value as JSON; or why there is none: the process took too long, died by itself, or was killed from outside, the
 * value is too large or too deep to be sent, or the guard refused the request, for the reason in a clause without a full
 * stop.
 */
export type WorkResult =
  | { kind: 'done'; json: string }
  | { kind: 'late' | 'died' | 'killed' | 'too-large' }
  | { kind: 'refused'; why: string };

/** Performs a request; one whose process was killed once more, where it `mayRepeat`. */
export type PerformRequest = (mayRepeat: () => Promise<boolean>) => Promise<WorkResult>;

/** A request to the process: the name of a method, and its argument. */
interface WorkRequest {
  name: string;
  argument: unknown;
}

/** A request for one of these methods. */
export type RequestOf<Methods, Names extends keyof Methods & string = keyof Methods & string> = {
  [Name in Names]: Methods[Name] extends (argument: infer Argument) => unknown
    ? { name: Name; argument: Argument }
    : never;
}[Names];

/** What the process responds: that it has started, and then the value as JSON, why there is none, or that it is too large. */
export type WorkResponse =
  { kind: 'started' } | { kind: 'done'; json: string } | { kind: 'failed'; stack: string } | { kind: 'too-large' };

export interface WorkerOptions {
  clock: Pick<Clock, 'sleep'>;
  log: Logger;
  /** How long one request may take (ms). */
  deadlineMs?: number;
  /** Memory that the values of its process may take (MB). */
  memoryMb?: number;
  /** How often a request is tried that was late: what else the machine does may have been the reason. Twice by default. */
  attempts?: number;
  /** Called in the turn of each request, to perform it or not. */
  guard?: (request: WorkRequest, owner: InputOwner | undefined, perform: PerformRequest) => Promise<WorkResult>;
}

/** Handles requests in a process of its own, one after the other, the owners in turn. */
export interface Worker<Request extends WorkRequest> {
  request: (request: Request, owner?: InputOwner) => Promise<WorkResult>;
  close: () => Promise<void>;
}

/** A process, and its first message: undefined where it ended without one. */
interface WorkerProcess {
  child: ChildProcess;
  start: Promise<WorkResponse | undefined>;
}

/** The next message of a process; undefined where it ends, breaks, or is waited for no longer. */
async function next(child: ChildProcess, signal?: AbortSignal): Promise<WorkResponse | undefined> {
  const over = new AbortController();
  const waits = signal ? AbortSignal.any([signal, over.signal]) : over.signal;
  const message = once(child, 'message', { signal: waits }).then(([response]: WorkResponse[]) => response);
  const exit = once(child, 'exit', { signal: waits }).then(() => undefined);
  try {
    return await Promise.race([message, exit].map((wait) => wait.catch(() => undefined)));
  } finally {
    over.abort();
  }
}

/** Sends a request, unless its values are nested too deep. */
function isSent(child: ChildProcess, request: WorkRequest): boolean {
  try {
    // A process that has died meanwhile answers nothing, which is noticed.
    child.send(request, () => undefined);
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/** Its own settings, environment and output are nothing to it: it may be made to do what its input says. */
const forkProcess = (memoryMb: number): ChildProcess =>
  fork(fileURLToPath(program), {
    execArgv: [`--max-old-space-size=${memoryMb}`, '--permission', '--allow-fs-read=*'],
    env: {},
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });

const endings = { late: 'took too long', died: 'died', killed: 'was killed from outside' };

const stopping = ({ name }: WorkRequest): Error =>
  new Error(`The App is stopping. ${name} runs again after the start.`);

/**
 * Starts a process with the first request. A request that takes too much time or memory ends its process. It is tried
 * again only where it was late, or its process was killed: one that ran out of memory would do so again.
 */
export function startWorker<Request extends WorkRequest>(options: WorkerOptions): Worker<Request> {
  const { clock, log, deadlineMs = usualDeadlineMs, memoryMb = usualMemoryMb, attempts = 2 } = options;
  const takeTurn = createTurns();
  let current: WorkerProcess | undefined;
  let isClosed = false;

  function open(): WorkerProcess {
    const child = forkProcess(memoryMb);
    child.unref();
    child.channel?.unref();
    child.on('error', (error) => log.error(`A worker process failed: ${stackOf(error)}`));
    const started = { child, start: next(child) };
    child.on('exit', () => {
      if (current === started) current = undefined;
    });
    return started;
  }

  async function end(used: WorkerProcess): Promise<void> {
    if (current === used) current = undefined;
    const { child } = used;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;
  }

  async function requestOnce(
    request: WorkRequest,
  ): Promise<WorkResult | { kind: 'failed'; stack: string } | undefined> {
    if (isClosed) throw stopping(request);
    const used = (current ??= open());
    const over = new AbortController();
    used.child.ref();
    used.child.channel?.ref();
    try {
      // The start of a process takes its time on a busy machine, which is no fault of the request.
      if ((await used.start) === undefined) {
        await end(used);
        if (isClosed) throw stopping(request);
        return undefined;
      }
      if (!isSent(used.child, request)) return { kind: 'too-large' };
      const late = clock.sleep(deadlineMs, over.signal).then(
        () => 'late' as const,
        () => undefined,
      );
      const response = await Promise.race([next(used.child, over.signal), late]);
      if (response !== undefined && response !== 'late' && response.kind !== 'started') return response;
      await end(used);
      // A request without a process proves nothing: the next App does its job again.
      if (isClosed) throw stopping(request);
      const { exitCode: code, signalCode: signal } = used.child;
      const kind = response === 'late' ? 'late' : isEndedFromOutside({ code, signal }) ? 'killed' : 'died';
      log.warn({ request: request.name, code, signal }, `A worker process ${endings[kind]}`);
      return { kind };
    } finally {
      over.abort();
      used.child.unref();
      used.child.channel?.unref();
    }
  }

  async function perform(request: WorkRequest, mayRepeat: () => Promise<boolean>): Promise<WorkResult> {
    let wasKilled = false;
    for (let attempt = 1; ; attempt += 1) {
      const result = await requestOnce(request);
      if (result?.kind === 'killed' && !wasKilled && (await mayRepeat())) {
        wasKilled = true;
        continue;
      }
      if (result?.kind === 'failed') throw new Error(`${request.name} failed in a worker process: ${result.stack}`);
      if (result !== undefined && (result.kind !== 'late' || attempt >= attempts)) return result;
      // That no process starts says nothing of the request: its job is done again.
      if (result === undefined && attempt >= 2) throw new Error(`${request.name}: no worker process starts.`);
    }
  }

  return {
    request: (request, owner) =>
      takeTurn(owner, () => {
        const performing: PerformRequest = (mayRepeat) => perform(request, mayRepeat);
        return options.guard ? options.guard(request, owner, performing) : performing(async () => true);
      }),
    async close() {
      isClosed = true;
      if (current) await end(current);
    },
  };
}
