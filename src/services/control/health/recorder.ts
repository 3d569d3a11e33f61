import { messageOf } from '../../../kit/errors.ts';
import { pause, steadyNow, type Clock } from '../../../kit/clock.ts';
import type { RequestRecord } from '../gateway/pass-on.ts';
import type { Logger } from '../../../kit/logger.ts';
import { isDatabaseUnavailable } from '../../../kit/postgres/unavailable.ts';
import { observe, pendingFigures, type Figures, type PendingFigures } from './figures.ts';
import type { HealthStore } from './repository.ts';

interface RecorderDependencies {
  store: Pick<HealthStore, 'addFigures'>;
  clock: Clock;
  log: Logger;
  /** How often the figures are stored (ms). */
  everyMs?: number;
}

/** The most rows in memory, while the database can't be reached. */
const maxPending = 20_000;

/** One sample of an agent's process; `cpu` is the usage since the previous sample, if there was one. */
export interface AgentSample {
  memory_bytes: number;
  queue_length: number;
  cpu?: { cpu_ms: number; sampled_ms: number } | undefined;
}

/** Counts in memory, and stores the counts every few seconds: a crash loses at most the latest. */
export function createHealthRecorder({ store, clock, log, everyMs = 5_000 }: RecorderDependencies) {
  const stopping = new AbortController();
  let pending = pendingFigures(maxPending);
  /** Rows that are being stored, or could not be. */
  let unstored: PendingFigures | undefined;
  let running: Promise<void> = Promise.resolve();

  const figuresOf = (deploymentId: string, at: number): Figures => pending.of(deploymentId, at, clock.now());

  async function flush(): Promise<void> {
    if (!unstored) {
      unstored = pending;
      pending = pendingFigures(maxPending);
    }
    try {
      await store.addFigures(unstored.rows());
      unstored = undefined;
    } catch (error) {
      // Drop rows that the database rejects: a retry would fail too.
      if (!isDatabaseUnavailable(error)) unstored = undefined;
      log.warn(`Health figures could not be stored: ${messageOf(error)}`);
    }
  }

  async function flushPeriodically(): Promise<void> {
    while (!stopping.signal.aborted) {
      await pause(clock, everyMs, stopping.signal);
      await flush();
    }
    // Requests may have been counted during the previous flush.
    await flush();
  }

  return {
    /** Counts a request of a deployment. Its failure and its first event count at the time when it arrived. */
    count: (deploymentId: string): RequestRecord => {
      const at = clock.now();
      const startedAt = steadyNow(clock);
      let hasFailed = false;
      figuresOf(deploymentId, at).requests += 1;
      return {
        failed(): void {
          if (!hasFailed) figuresOf(deploymentId, at).errors += 1;
          hasFailed = true;
        },
        firstEvent: () => observe(figuresOf(deploymentId, at).first_events, steadyNow(clock) - startedAt),
      };
    },
    sample(deploymentId: string, { memory_bytes, queue_length, cpu }: AgentSample): void {
      const figures = figuresOf(deploymentId, clock.now());
      figures.memory_bytes = Math.max(figures.memory_bytes ?? 0, memory_bytes);
      figures.queue_length = Math.max(figures.queue_length ?? 0, queue_length);
      figures.cpu_ms += cpu?.cpu_ms ?? 0;
      figures.sampled_ms += cpu?.sampled_ms ?? 0;
    },
    /** Stores the counts now. Never rejects. */
    flush,
    start(): void {
      running = flushPeriodically();
    },
    async stop(): Promise<void> {
      stopping.abort();
      await running;
    },
  };
}
export type HealthRecorder = ReturnType<typeof createHealthRecorder>;
