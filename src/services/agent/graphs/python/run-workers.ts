import { unlessAborted } from '../../../../kit/clock.ts';
import type { Logger } from '../../../../kit/logger.ts';
import type { Fetch } from '../../protocols/internal-api.ts';
import { Slots } from '../../runs/slots.ts';
import { WorkerGone, type Connection } from './connection.ts';
import { metadataEvent } from '../../../../contract/agent/stream-event.ts';
import type { EventLog } from '../../runs/event-log.ts';
import type { RunPlan } from '../../runs/run-plan.ts';

/** The worker of one attempt of a run. */
export interface RunWorker {
  connection: Connection;
  /** @param failure what ended the attempt; undefined if it succeeded. */
  release(failure: unknown): Promise<void>;
}

/** Connections to the worker that holds the agent's graphs. */
export interface GraphHost {
  /** The connection to the worker, once one is running. */
  connection(): Promise<Connection>;
  /** The worker for one attempt of a run; where this is absent, that of `connection`. */
  forRun?(runId: string, signal: AbortSignal): Promise<RunWorker>;
  /** The current connection, if a worker is running. */
  readonly running?: Connection | undefined;
  /** Handles requests of the agent's code to this server. */
  readonly fetch?: Fetch | undefined;
}

type DedicatedHost = Pick<GraphHost, 'connection'> & { close(): Promise<void> };

/** The maximum number of worker exits per run, which must not end workers forever. */
const maxExits = 3;
/** After so many exits of the shared worker the next attempt of a run, its last, has a worker of its own. */
const maxSharedExits = maxExits - 1;
/** How many runs have a dedicated worker at the same time, each with the memory of one more process. */
const maxDedicated = 2;

/**
 * Runs share one worker. If it exits twice in a row under a run, the next attempt of that run has a dedicated one: which
 * of the runs ended the shared worker is not known, and one that ends each of its workers must not end others.
 */
export class RunWorkers implements GraphHost {
  readonly #shared: GraphHost;
  readonly #makeDedicated: () => DedicatedHost;
  readonly #log: Logger;
  readonly #dedicated = new Set<DedicatedHost>();
  readonly #slots = new Slots(maxDedicated);
  /** Exits of the shared worker in a row, by the id of the run. */
  readonly #exits = new Map<string, number>();

  constructor(parts: { shared: GraphHost; makeDedicated: () => DedicatedHost; log: Logger }) {
    this.#shared = parts.shared;
    this.#makeDedicated = parts.makeDedicated;
    this.#log = parts.log;
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
    const exits = this.#exits.get(runId) ?? 0;
    if (exits >= maxSharedExits) return this.#dedicatedTo(runId, signal);
    const note = (failure: unknown): void => {
      if (failure instanceof WorkerGone) this.#exits.set(runId, exits + 1);
      else this.#exits.delete(runId);
    };
    try {
      const connection = await unlessAborted(this.#shared.connection(), signal);
      return { connection, release: async (failure) => note(failure) };
    } catch (error) {
      note(error);
      throw error;
    }
  }

  async #dedicatedTo(runId: string, signal: AbortSignal): Promise<RunWorker> {
    this.#exits.delete(runId);
    this.#log.warn(
      { runId },
      `The shared Python process has ended twice under run ${runId}: its next attempt has one of its own.`,
    );
    await this.#slots.take(signal);
    const host = this.#makeDedicated();
    this.#dedicated.add(host);
    const release = async (): Promise<void> => {
      this.#dedicated.delete(host);
      try {
        await host.close();
      } finally {
        this.#slots.release();
      }
    };
    try {
      return { connection: await unlessAborted(host.connection(), signal), release };
    } catch (error) {
      // One that is loading ends only then: a cancelled run does not wait for that.
      void release().catch(() => undefined);
      throw error;
    }
  }

  /** Ends the dedicated workers, and so their runs; the shared one is not this object's to end. */
  async close(): Promise<void> {
    await Promise.all([...this.#dedicated].map((host) => host.close()));
  }
}

/** Runs a graph, from its last checkpoint where its process has ended. @throws what the last attempt throws. */
export async function despiteDeaths(
  run: (attempt: number) => Promise<void>,
  { plan: { runId, graphId }, attempt: first, events }: { plan: RunPlan; attempt: number; events: EventLog },
  { log, signal }: { log: Logger; signal: AbortSignal },
): Promise<void> {
  for (let attempt = first; ; attempt += 1) {
    try {
      return await run(attempt);
    } catch (error) {
      const isLast = attempt - first + 1 >= maxExits || signal.aborted;
      if (!(error instanceof WorkerGone) || isLast) throw error;
    }
    log.warn({ runId }, `Run ${runId} of graph "${graphId}" lost its process, and goes on.`);
    events.add(metadataEvent, JSON.stringify({ run_id: runId, attempt: attempt + 1 }));
  }
}
