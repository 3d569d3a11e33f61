import { stackOf } from '../../../kit/errors.ts';
import type { Clock } from '../../../kit/clock.ts';
import { errorEvent, metadataEvent } from '../../../contract/agent/stream-event.ts';
import { attemptIds, type Followable, type Follower } from './event-log.ts';
import { endedRunError, type EndedRuns } from './ended-run.ts';
import { logFailure } from '../storage/poll.ts';
import type { RunQueue, RunProgress } from './queue.ts';
import type { RunEvents, StoredEvent } from './run-events.ts';
import { RunStopped } from './run-error.ts';
import { isUnfinished } from './run-row.ts';
import { retryWhileDatabaseDown } from '../storage/retry-policy.ts';
import type { Logger } from '../../../kit/logger.ts';

export interface RemoteRunsDependencies {
  queue: Pick<RunQueue, 'askForEvents' | 'progressOf'>;
  left: Pick<EndedRuns, 'answer'>;
  events: Pick<RunEvents, 'after' | 'last' | 'ending'>;
  clock: Clock;
  log: Logger;
}

export interface FollowedRun {
  runId: string;
  attempt: number;
  resumable: boolean;
  /** The last event that its followers received, if known. */
  after?: number;
}

/** The polling interval (ms) for all runs of other processes. */
const lookMs = 200;

interface Watch {
  runId: string;
  /** The last event sent; undefined if only the end counts. */
  after: number | undefined;
  onEvent: (event: StoredEvent) => void;
  onEnd: (last: RunProgress | undefined) => void;
  onClose: () => void;
}

/**
 * Runs of other processes, for callers that wait for them or follow them here. Their ends are in their rows; their
 * events are stored on request, which their process notices within a second.
 */
export class RemoteRuns {
  readonly #dependencies: RemoteRunsDependencies;
  readonly #watches = new Set<Watch>();
  #looking = false;
  #closed = false;

  constructor(dependencies: RemoteRunsDependencies) {
    this.#dependencies = dependencies;
  }

  /** The response for a caller that waits for the run. */
  async ended({ runId }: Pick<FollowedRun, 'runId'>): Promise<string> {
    const { queue, left } = this.#dependencies;
    // With the events, the process also stores the response, the only trace of a stateless run.
    await queue.askForEvents(runId);
    await new Promise<unknown>((onEnd, fail) => {
      const onClose = () => fail(new RunStopped('shutdown'));
      this.#watch({ runId, after: undefined, onEvent: () => undefined, onEnd, onClose });
    });
    return left.answer(runId);
  }

  /** The events of the run: of a resumable one all stored ones, else new ones. */
  events(run: FollowedRun): Followable {
    return { follow: (follower, afterId = -1) => this.#follow(run, follower, afterId) };
  }

  #follow(run: FollowedRun, follower: Follower, afterId: number): () => void {
    const stopped = new AbortController();
    const notify: Follower = (event) => {
      if (!stopped.signal.aborted) follower(event);
    };
    this.#begin(run, notify, afterId, stopped.signal).catch((error: unknown) => {
      if (stopped.signal.aborted) return;
      this.#dependencies.log.error(
        { runId: run.runId },
        `Run ${run.runId} of another process can't be followed: ${stackOf(error)}`,
      );
      notify(undefined);
    });
    return () => stopped.abort();
  }

  async #begin(run: FollowedRun, notify: Follower, afterId: number, stopped: AbortSignal): Promise<void> {
    const { queue, events, clock } = this.#dependencies;
    const metadata = JSON.stringify({ run_id: run.runId, attempt: run.attempt });
    if (!run.resumable) {
      notify({ id: (run.attempt - 1) * attemptIds, event: metadataEvent, json: metadata });
      await retryWhileDatabaseDown(() => queue.askForEvents(run.runId), clock, stopped);
    }
    const lastStored = () => retryWhileDatabaseDown(() => events.last(run.runId), clock, stopped);
    const watch: Watch = {
      runId: run.runId,
      after: run.after ?? (run.resumable ? afterId : await lastStored()),
      onEvent: ({ id, event, json }) => {
        // A new follower of a run that is not resumable has already received the metadata.
        if (run.resumable || event !== metadataEvent || json !== metadata) notify({ id, event, json });
      },
      onEnd: (last) => {
        this.#end(watch, last, run.resumable, notify).catch((error: unknown) => {
          this.#dependencies.log.error(
            { runId: run.runId },
            `The outcome of run ${run.runId} of another process can't be read: ${stackOf(error)}`,
          );
          notify(undefined);
        });
      },
      onClose: () => notify(undefined),
    };
    if (stopped.aborted) return;
    stopped.addEventListener('abort', () => this.#watches.delete(watch), { once: true });
    this.#watch(watch);
  }

  async #end({ runId, after = -1 }: Watch, run: RunProgress | undefined, resumable: boolean, notify: Follower) {
    const { events, clock } = this.#dependencies;
    const ending = run && !resumable ? undefined : await retryWhileDatabaseDown(() => events.ending(runId), clock);
    const error = endedRunError({ run, ending });
    // The follower may already have received the error as an event.
    const isKnown = ending?.kind === 'error' && ending.json === error && ending.id <= after;
    if (error !== undefined && !(resumable && isKnown)) notify({ id: after + 1, event: errorEvent, json: error });
    notify(undefined);
  }

  /** Stops polling; releases all followers. */
  close(): void {
    this.#closed = true;
    for (const { onClose } of this.#watches) onClose();
    this.#watches.clear();
  }

  #watch(watch: Watch): void {
    if (this.#closed) return watch.onClose();
    this.#watches.add(watch);
    if (!this.#looking) void this.#keepLooking();
  }

  async #keepLooking(): Promise<void> {
    const { clock, log } = this.#dependencies;
    this.#looking = true;
    while (this.#watches.size > 0) {
      const hasMore = await this.#look([...this.#watches]).catch(
        logFailure(log, 'Polling runs of other processes failed'),
      );
      if (!hasMore && this.#watches.size > 0) await clock.sleep(lookMs);
    }
    this.#looking = false;
  }

  /** @returns whether more can be read at once. */
  async #look(watches: readonly Watch[]): Promise<boolean> {
    const { queue, events } = this.#dependencies;
    // Rows are read before events: the events of an ended run are then complete.
    const rows = await queue.progressOf([...new Set(watches.map(({ runId }) => runId))]);
    const runs = new Map(rows.map((run) => [run.run_id, run]));
    const reading = watches.flatMap((watch) => (watch.after === undefined ? [] : [{ watch, after: watch.after }]));
    const read = await events.after(reading.map(({ watch, after }) => ({ runId: watch.runId, after })));
    const pages = new Map(reading.map(({ watch }, at) => [watch, read[at]]));
    let hasMore = false;
    for (const watch of watches) {
      const page = pages.get(watch);
      for (const event of page?.events ?? []) {
        if (!this.#watches.has(watch)) break;
        watch.after = event.id;
        watch.onEvent(event);
      }
      if (page?.hasMore) hasMore = true;
      else {
        const run = runs.get(watch.runId);
        if (!(run && isUnfinished(run)) && this.#watches.delete(watch)) watch.onEnd(run);
      }
    }
    return hasMore;
  }
}
