import { unlessAborted } from '../../../../kit/clock.ts';
import type { Logger } from '../../../../kit/logger.ts';
import { overriding } from '../../../../kit/overriding.ts';
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
export function runWorkers({
  shared,
  makeDedicated,
  log,
}: {
  shared: GraphHost;
  makeDedicated: () => DedicatedHost;
  log: Logger;
}) {
  const dedicated = new Set<DedicatedHost>();
  const slots = new Slots(maxDedicated);
  /** Exits of the shared worker in a row, by the id of the run. */
  const exitsOf = new Map<string, number>();

  async function forRun(runId: string, signal: AbortSignal): Promise<RunWorker> {
    const exits = exitsOf.get(runId) ?? 0;
    if (exits >= maxSharedExits) return dedicatedTo(runId, signal);
    const note = (failure: unknown): void => {
      if (failure instanceof WorkerGone) exitsOf.set(runId, exits + 1);
      else exitsOf.delete(runId);
    };
    try {
      const connection = await unlessAborted(shared.connection(), signal);
      return { connection, release: async (failure) => note(failure) };
    } catch (error) {
      note(error);
      throw error;
    }
  }

  async function dedicatedTo(runId: string, signal: AbortSignal): Promise<RunWorker> {
    exitsOf.delete(runId);
    log.warn(
      { runId },
      `The shared Python process has ended twice under run ${runId}: its next attempt has one of its own.`,
    );
    await slots.take(signal);
    const host = makeDedicated();
    dedicated.add(host);
    const release = async (): Promise<void> => {
      dedicated.delete(host);
      try {
        await host.close();
      } finally {
        slots.release();
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

  return {
    host: overriding<Pick<GraphHost, 'forRun'>, GraphHost>(shared, { forRun }),
    forRun,
    /** Ends the dedicated workers, and so their runs; the shared one is not this object's to end. */
    async close(): Promise<void> {
      await Promise.all([...dedicated].map((host) => host.close()));
    },
  };
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
