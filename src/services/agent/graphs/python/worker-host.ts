import { backoffMs, endsWithin, pause, steadyNow } from '../../../../kit/clock.ts';
import { messageOf, stackOf } from '../../../../kit/errors.ts';
import type { Fetch } from '../../protocols/internal-api.ts';
import { onBehalfOf } from '../../auth/in-process-caller.ts';
import { ClientRequests } from './client-requests.ts';
import { WorkerGone, type Connection } from './connection.ts';
import type { Sign } from './headers.ts';
import { loadCode, type CodeFacts, type CodeOptions } from './load-code.ts';
import type { GraphHost } from './run-workers.ts';
import { startWorker, supportedEngine, type Worker } from './worker-process.ts';

/** What a worker needs to hold the code of an agent. */
export interface WorkerHostOptions extends CodeOptions {
  python: string;
  environment: NodeJS.ProcessEnv;
  /** Whether it is for a single run. */
  isDedicated?: boolean;
  /** Handles what the agent's code calls of this server; undefined where nothing is served. */
  fetch?: Fetch | undefined;
}

/** The pause (ms) before a worker that ended is started again, and how long one must have run for the first pause. */
const restart = { firstMs: 500, maxMs: 30_000, settledMs: 60_000 };
/** How long (ms) a worker may take to load again what was loaded before. */
const loadAgainMs = 120_000;
/** How long (ms) a run may go on after it was cancelled. */
const cancelMs = 5_000;
/** How long (ms) the application may take for its shutdown. */
const shutdownMs = 5_000;
/** Without a sign of life for so long (ms) the loop counts as blocked, and the process as hanging; how often to look. */
const silence = { loopMs: 5_000, processMs: 60_000, lookMs: 10_000 };

/** Keeps a worker ready while it is needed, with its graphs loaded. */
export class WorkerHost implements GraphHost {
  readonly #options: WorkerHostOptions;
  readonly #closed = new AbortController();
  #worker: Promise<Worker> | undefined;
  /** The same, once its graphs are loaded and until it ends. */
  #running: Worker | undefined;
  #isWatched = false;
  #failures = 0;
  #startedAt = 0;
  /** When (steady ms) each last gave a sign of life. */
  #alive = { loop: 0, process: 0 };

  constructor(options: WorkerHostOptions) {
    this.#options = options;
  }

  /** Starts the worker, and loads the graphs. @throws StartupError for one that can't be loaded. */
  async load(): Promise<CodeFacts> {
    const starting = this.#start();
    this.#worker = starting.then(({ worker }) => worker);
    return (await starting).loaded;
  }

  get fetch(): Fetch | undefined {
    return this.#options.fetch;
  }

  async connection(): Promise<Connection> {
    this.#closed.signal.throwIfAborted();
    return (await (this.#worker ??= this.#startAgain())).connection;
  }

  get running(): Connection | undefined {
    return this.#running?.connection;
  }

  /** Ends the worker; the next request starts another one. */
  async rest(): Promise<void> {
    const starting = this.#worker;
    this.#worker = undefined;
    this.#failures = 0;
    const worker = await starting?.catch(() => undefined);
    if (worker && this.#running === worker) this.#running = undefined;
    if (worker && this.#options.app?.starts) await this.#shutDownApp(worker.connection);
    await worker?.close();
  }

  async close(): Promise<void> {
    this.#closed.abort(new Error('The server is shutting down.'));
    await this.rest();
  }

  async #shutDownApp(connection: Connection): Promise<void> {
    const { clock, log } = this.#options;
    const shutDown = connection.ask('close_app', {}).catch((error: unknown) => {
      if (!(error instanceof WorkerGone)) log.error(`The shutdown of \`http.app\` failed: ${stackOf(error)}`);
    });
    await endsWithin(clock, shutdownMs, shutDown);
  }

  /** @param limitMs how long (ms) loading may take; no limit at the first start, which others watch. */
  async #start(limitMs?: number): Promise<{ worker: Worker; loaded: CodeFacts }> {
    const { python, folder, environment, log, clock } = this.#options;
    this.#startedAt = this.#alive.loop = this.#alive.process = steadyNow(clock);
    // Nobody's rights: what the agent's code calls in the background is authenticated by its headers.
    const calls = onBehalfOf(undefined, () => new ClientRequests(this.#options.fetch, { isRun: true }));
    let worker: Worker | undefined;
    worker = await startWorker({
      python,
      folder,
      environment,
      print: (line) => log.info(line),
      // With rules there are several users: what the code prints for one is not told to another.
      tellsLines: this.#options.auth === undefined,
      sign: (sign) => this.#take(sign),
      answer: (asked) => calls.answer(asked),
      grace: (over) => clock.sleep(cancelMs, over),
      overdue: () => {
        if (steadyNow(clock) - this.#alive.loop > silence.loopMs)
          worker?.kill('A run that was cancelled blocked it all the same.');
      },
      ended: (why) => {
        calls.end();
        this.#ended(worker, why);
      },
    });
    const isLoaded = new AbortController();
    if (limitMs !== undefined)
      clock.sleep(limitMs, isLoaded.signal).then(
        () => worker?.kill(`Its code was not loaded within ${limitMs / 1_000} s.`),
        () => undefined,
      );
    try {
      const engine = supportedEngine(worker.hello);
      const loaded = await loadCode(worker.connection, this.#options);
      this.#running = worker;
      if (!this.#isWatched) void this.#watch();
      return { worker, loaded: { engine, ...loaded } };
    } catch (error) {
      await worker.close();
      throw error;
    } finally {
      isLoaded.abort();
    }
  }

  /** Starts another worker after one that ended. Who asks meanwhile waits for it. */
  async #startAgain(): Promise<Worker> {
    const { clock, log } = this.#options;
    if (this.#failures > 0)
      await clock.sleep(backoffMs(this.#failures, restart.firstMs, restart.maxMs), this.#closed.signal);
    try {
      return (await this.#start(loadAgainMs)).worker;
    } catch (error) {
      this.#failures += 1;
      this.#worker = undefined;
      if (error instanceof WorkerGone) throw error;
      // Its code was loaded before, and may be again: what it needs may be away for a moment.
      log.error(stackOf(error));
      throw new WorkerGone(`The Python process of the agent could not load its code again: ${messageOf(error)}`);
    }
  }

  /** Forgets a worker that has ended by itself, before what was open there fails: it may be asked again at once. */
  #ended(worker: Worker | undefined, why: Error): void {
    if (worker === undefined || this.#running !== worker || this.#closed.signal.aborted) return;
    const { clock, log, isDedicated = false } = this.#options;
    this.#failures = steadyNow(clock) - this.#startedAt > restart.settledMs ? 1 : this.#failures + 1;
    this.#running = this.#worker = undefined;
    log.error(isDedicated ? messageOf(why) : `${messageOf(why)}\nAnother one starts with the next request.`);
  }

  #take(sign: Sign): void {
    const { log, clock } = this.#options;
    if (sign.kind === 'beat') {
      this.#alive[sign.of] = steadyNow(clock);
    } else if (sign.kind === 'blocked') {
      const node = sign.node === null ? 'Code of the agent' : `Node "${sign.node}"`;
      log.warn(
        { node: sign.node ?? undefined, stack: sign.stack },
        `${node} blocks the event loop for more than ${sign.seconds} s, at ${sign.place}: other runs wait. ` +
          'Make it await, or call it by asyncio.to_thread.',
      );
    } else {
      const { level, logger, message, run_id: runId, thread_id: threadId, node } = sign;
      log[level](
        { logger, runId: runId ?? undefined, threadId: threadId ?? undefined, node: node ?? undefined },
        message,
      );
    }
  }

  /** Ends a worker that gives no sign of life at all. */
  async #watch(): Promise<void> {
    const { clock } = this.#options;
    this.#isWatched = true;
    while (!this.#closed.signal.aborted) {
      await pause(clock, silence.lookMs, this.#closed.signal);
      const worker = await this.#worker?.catch(() => undefined);
      if (worker && steadyNow(clock) - this.#alive.process > silence.processMs)
        worker.kill(`It gave no sign of life for ${silence.processMs / 1_000} s.`);
    }
  }
}
