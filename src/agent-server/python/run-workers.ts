import type { Logger } from '../../logger.ts';
import type { Fetch } from '../protocols/internal-api.ts';
import { unlessAborted } from '../runs/aborted.ts';
import { Slots } from '../runs/slots.ts';
import { WorkerGone, type Connection } from './connection.ts';

/** The worker that an attempt of a run has until it leaves it. */
export interface RunWorker {
  connection: Connection;
  /** @param failure what ended the attempt; undefined if it succeeded. */
  leave(failure: unknown): Promise<void>;
}

/** The way to the worker that holds a graph. */
export interface GraphHost {
  /** The connection to the worker, once one is running. */
  connection(): Promise<Connection>;
  /** The worker for an attempt of a run; that of everything else where this is absent. */
  forRun?(runId: string, signal: AbortSignal): Promise<RunWorker>;
  /** The same where one is running now. */
  readonly running?: Connection | undefined;
  /** Handles what the agent's code calls of this server. */
  readonly fetch?: Fetch | undefined;
}

/** A worker for one run. */
type OwnHost = Pick<GraphHost, 'connection'> & { close(): Promise<void> };

/** How often a run may end with the worker that it shares with others. */
const mostShared = 2;
/** How many runs have a worker of their own at the same time, each with the memory of one more process. */
const mostOwn = 4;

/**
 * The worker of each run: the one that all share, until it has ended twice under the run. Which of its runs ended it is
 * not known, so each of them gets one of its own then: whoever ends that ends no other run.
 */
export class RunWorkers implements GraphHost {
  readonly #shared: GraphHost;
  readonly #makeOwn: () => OwnHost;
  readonly #log: Logger;
  readonly #own = new Set<OwnHost>();
  readonly #slots = new Slots(mostOwn);
  /** How often the shared worker ended under a run, by the run's id. */
  readonly #ended = new Map<string, number>();

  constructor({ shared, makeOwn, log }: { shared: GraphHost; makeOwn: () => OwnHost; log: Logger }) {
    this.#shared = shared;
    this.#makeOwn = makeOwn;
    this.#log = log;
  }

  get fetch(): GraphHost['fetch'] {
    return this.#shared.fetch;
  }

  get running(): Connection | undefined {
    return this.#shared.running;
  }

  connection(): Promise<Connection> {
    return this.#shared.connection();
  }

  async forRun(runId: string, signal: AbortSignal): Promise<RunWorker> {
    if ((this.#ended.get(runId) ?? 0) >= mostShared) return this.#ownOf(runId, signal);
    return {
      connection: await unlessAborted(this.#shared.connection(), signal),
      leave: async (failure) => {
        if (failure instanceof WorkerGone) this.#ended.set(runId, (this.#ended.get(runId) ?? 0) + 1);
        else this.#ended.delete(runId);
      },
    };
  }

  async #ownOf(runId: string, signal: AbortSignal): Promise<RunWorker> {
    this.#ended.delete(runId);
    this.#log.warn({ runId }, `The worker of run ${runId} has ended twice: the run gets one of its own.`);
    await this.#slots.take(signal);
    const own = this.#makeOwn();
    this.#own.add(own);
    const leave = async (): Promise<void> => {
      this.#own.delete(own);
      await own.close();
      this.#slots.release();
    };
    try {
      return { connection: await unlessAborted(own.connection(), signal), leave };
    } catch (error) {
      await leave();
      throw error;
    }
  }

  /** Ends the workers of their own, whose runs end with them. */
  async close(): Promise<void> {
    await Promise.all([...this.#own].map((own) => own.close()));
  }
}
