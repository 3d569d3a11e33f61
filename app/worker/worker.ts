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

/** Signals from outside: of a person, a supervisor, or the kernel when the machine's memory runs out. */
const outsideSignals = new Set<number | undefined>(
  (['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT'] as const).map((name) => constants.signals[name]),
);

/**
 * Whether a process was ended from outside rather than by its own failure. V8 ends a process without heap with
 * `SIGABRT` (or a trap), broken native code gets `SIGSEGV` or `SIGBUS`, and an error exits with a code. The kernel's
 * `SIGKILL` may be due to the memory of any process, so it proves nothing.
 */
export function isEndedFromOutside({ code, signal }: ProcessEnd): boolean {
  // A shell, or a program that starts others, reports a signal as 128 and its number.
  const number = signal === null ? (code ?? 0) - 128 : constants.signals[signal];
  return outsideSignals.has(number);
}

/**
 * The timeout of one request in a started process (ms). The largest file takes less than a tenth of it.
 */
const defaultDeadlineMs = 10_000;

/** The heap limit of a process (MB). V8 ends a process that needs more, without an error to catch. */
const defaultMemoryMb = 256;

/** The program is next to this file in the sources, and next to the bundle in a build. */
const program = new URL(import.meta.url.endsWith('.ts') ? './worker-process.ts' : './app-worker.js', import.meta.url);

/**
 * The value as JSON, or why there is none: the process took too long, died by itself, or was killed from outside, the
 * value is too large or too deep to send, or the guard refused the request (`why` is a clause without a full stop).
 */
export type WorkResult =
  | { kind: 'done'; json: string }
  | { kind: 'late' | 'died' | 'killed' | 'too-large' }
  | { kind: 'refused'; why: string };

/** Performs a request. If its process was killed, it is repeated once if `mayRepeat` allows it. */
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

/** A message of the process: first that it has started, then the result of each request. */
export type WorkResponse =
  { kind: 'started' } | { kind: 'done'; json: string } | { kind: 'failed'; stack: string } | { kind: 'too-large' };

export interface WorkerOptions {
  clock: Pick<Clock, 'sleep'>;
  log: Logger;
  /** How long one request may take (ms). */
  deadlineMs?: number;
  /** The heap limit of its process (MB). */
  memoryMb?: number;
  /** How often a late request is attempted, because the machine may have been busy. Twice by default. */
  attempts?: number;
  /** Called in the turn of each request; decides whether to perform it. */
  guard?: (request: WorkRequest, owner: InputOwner | undefined, perform: PerformRequest) => Promise<WorkResult>;
}

/** Handles requests in a separate process, one after another, with fair turns for their owners. */
export interface Worker<Request extends WorkRequest> {
  request: (request: Request, owner?: InputOwner) => Promise<WorkResult>;
  close: () => Promise<void>;
}

/** A process and its first message; undefined if it ends without one. */
interface WorkerProcess {
  child: ChildProcess;
  start: Promise<WorkResponse | undefined>;
}

/** Waits for the next message of a process; undefined if it ends or fails, or the signal aborts. */
async function nextMessage(child: ChildProcess, signal?: AbortSignal): Promise<WorkResponse | undefined> {
  const finished = new AbortController();
  const waits = signal ? AbortSignal.any([signal, finished.signal]) : finished.signal;
  const message = once(child, 'message', { signal: waits }).then(([response]: WorkResponse[]) => response);
  const exit = once(child, 'exit', { signal: waits }).then(() => undefined);
  try {
    return await Promise.race([message, exit].map((wait) => wait.catch(() => undefined)));
  } finally {
    finished.abort();
  }
}

/** Sends a request, unless its values are nested too deep. */
function trySend(child: ChildProcess, request: WorkRequest): boolean {
  try {
    // A process that died meanwhile does not respond, which the caller notices.
    child.send(request, () => undefined);
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/** The process gets no environment and no output, and may only read files: malicious input may take control of it. */
const forkProcess = (memoryMb: number): ChildProcess =>
  fork(fileURLToPath(program), {
    execArgv: [`--max-old-space-size=${memoryMb}`, '--permission', '--allow-fs-read=*'],
    env: {},
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });

const endingTexts = { late: 'took too long', died: 'died', killed: 'was killed from outside' };

const stoppingError = ({ name }: WorkRequest): Error =>
  new Error(`The App is stopping. ${name} runs again after the start.`);

/**
 * Starts a process with the first request. A request that takes too much time or memory ends its process. It is retried
 * only if it was late or its process was killed: one that ran out of memory would do so again.
 */
export function startWorker<Request extends WorkRequest>(options: WorkerOptions): Worker<Request> {
  const { clock, log, deadlineMs = defaultDeadlineMs, memoryMb = defaultMemoryMb, attempts = 2 } = options;
  const takeTurn = createTurns();
  let current: WorkerProcess | undefined;
  let isClosed = false;

  function startProcess(): WorkerProcess {
    const child = forkProcess(memoryMb);
    child.unref();
    child.channel?.unref();
    child.on('error', (error) => log.error(`A worker process failed: ${stackOf(error)}`));
    const started = { child, start: nextMessage(child) };
    child.on('exit', () => {
      if (current === started) current = undefined;
    });
    return started;
  }

  async function endProcess(used: WorkerProcess): Promise<void> {
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
    if (isClosed) throw stoppingError(request);
    const used = (current ??= startProcess());
    const over = new AbortController();
    used.child.ref();
    used.child.channel?.ref();
    try {
      // Starting a process takes time on a busy machine, which must not count for the request.
      if ((await used.start) === undefined) {
        await endProcess(used);
        if (isClosed) throw stoppingError(request);
        return undefined;
      }
      if (!trySend(used.child, request)) return { kind: 'too-large' };
      const late = clock.sleep(deadlineMs, over.signal).then(
        () => 'late' as const,
        () => undefined,
      );
      const response = await Promise.race([nextMessage(used.child, over.signal), late]);
      if (response !== undefined && response !== 'late' && response.kind !== 'started') return response;
      await endProcess(used);
      // At shutdown, the end of a process proves nothing about its request, which runs again after the next start.
      if (isClosed) throw stoppingError(request);
      const { exitCode: code, signalCode: signal } = used.child;
      const kind = response === 'late' ? 'late' : isEndedFromOutside({ code, signal }) ? 'killed' : 'died';
      log.warn({ request: request.name, code, signal }, `A worker process ${endingTexts[kind]}`);
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
      // If no process starts, it is not the request's fault: its job is retried.
      if (result === undefined && attempt >= 2) throw new Error(`${request.name}: no worker process starts.`);
    }
  }

  return {
    request: (request, owner) =>
      takeTurn(owner, () => {
        const performRequest: PerformRequest = (mayRepeat) => perform(request, mayRepeat);
        return options.guard ? options.guard(request, owner, performRequest) : performRequest(async () => true);
      }),
    async close() {
      isClosed = true;
      if (current) await endProcess(current);
    },
  };
}
