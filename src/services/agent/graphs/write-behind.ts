import { AsyncLocalStorage } from 'node:async_hooks';
import { SerialQueue } from '../storage/transaction.ts';
import { CheckpointBatch, maxBytesAtOnce } from './checkpoint-batch.ts';

/** How long (ms) the writes of a run are gathered before they are stored together. */
const gatherMs = 10;

/** Stores a batch of a run. */
export type StoreBatch = (runId: string, batch: CheckpointBatch) => Promise<void>;

/** What is not stored yet at the end of a run, or why something before it could not be stored. */
export type Unstored = { batch: CheckpointBatch | undefined } | { failure: unknown };

interface GatheredRun {
  readonly threadId: string;
  batch: CheckpointBatch | undefined;
  /** Settles once the last write that has arrived is in the batch, or stored. */
  lastWrite: Promise<void>;
  /** What is stored, in order: a checkpoint needs the values that those before it brought. */
  readonly queue: SerialQueue;
  /** The checkpoints that the run has put since it began in this process. */
  readonly own: Set<string>;
  timer: NodeJS.Timeout | undefined;
  /** Calls a function in the run's asynchronous context: its retries and its end apply, whoever flushes its writes. */
  inRun: ReturnType<typeof AsyncLocalStorage.snapshot>;
  /** Its end stores what is left. */
  isEnding: boolean;
  failure: { error: unknown } | undefined;
}

/**
 * Gathers what runs write to their states, so that several steps take one statement. The engine goes on meanwhile, as
 * its durability `async` allows; reads of the state and the end of the run come after its writes. A failure fails the
 * next write, or the end.
 */
export class WriteBehind {
  readonly #store: StoreBatch;
  readonly #runs = new Map<string, GatheredRun>();

  constructor(store: StoreBatch) {
    this.#store = store;
  }

  begin(runId: string, threadId: string): void {
    this.#runs.set(runId, {
      threadId,
      batch: undefined,
      lastWrite: Promise.resolve(),
      queue: new SerialQueue(),
      own: new Set(),
      timer: undefined,
      inRun: AsyncLocalStorage.snapshot(),
      isEnding: false,
      failure: undefined,
    });
  }

  /** Forgets a run; what it has left is discarded. */
  forget(runId: string): void {
    clearTimeout(this.#runs.get(runId)?.timer);
    this.#runs.delete(runId);
  }

  /**
   * Gives a write of a run its turn: after those that arrived before it. Once one has failed, none after it is stored.
   */
  async writeInTurn<T>(runId: string, write: (turn: Promise<void>) => Promise<T>): Promise<T> {
    const run = this.#runs.get(runId);
    if (run === undefined) return write(Promise.resolve());
    const turn = turnAfter(run.lastWrite, run);
    // A write that fails before its turn comes, as it can't be serialized, waits for no turn.
    turn.catch(() => undefined);
    const written = write(turn);
    run.lastWrite = arrivalOf(turn, written, run);
    return written;
  }

  notePut(runId: string | null, checkpoint: string): void {
    if (runId !== null) this.#runs.get(runId)?.own.add(checkpoint);
  }

  /** Whether the run has put this checkpoint itself: then no other run can have written after it what must be kept. */
  hasPut(runId: string | null, checkpoint: string): boolean {
    return runId !== null && this.#runs.get(runId)?.own.has(checkpoint) === true;
  }

  /**
   * Adds rows of a run to those that are stored soon; false if its rows are stored at once, also those of another thread
   * than its own. @throws why earlier ones could not be stored.
   */
  async add(
    runId: string | null,
    { threadId, bytes }: { threadId: string; bytes: number },
    addTo: (batch: CheckpointBatch) => void,
  ): Promise<boolean> {
    const run = runId === null ? undefined : this.#runs.get(runId);
    if (runId === null || run === undefined || run.threadId !== threadId) return false;
    if ((run.batch?.bytes ?? 0) + bytes > maxBytesAtOnce) await this.flush(runId);
    if (run.failure) throw run.failure.error;
    run.inRun = AsyncLocalStorage.snapshot();
    addTo((run.batch ??= new CheckpointBatch(run.threadId)));
    if (!run.isEnding) run.timer ??= setTimeout(() => void this.flush(runId).catch(() => undefined), gatherMs);
    return true;
  }

  /** Writes something of a run by itself, after what it has written before. */
  async writeAlone<T>(runId: string | null, write: () => Promise<T>): Promise<T> {
    const run = runId === null ? undefined : this.#runs.get(runId);
    if (runId === null || run === undefined) return write();
    await this.flush(runId);
    return run.queue.do(write);
  }

  /** Stores what a run has written up to now. @throws why that is not possible, also later. */
  async flush(runId: string): Promise<void> {
    const run = this.#runs.get(runId);
    if (run === undefined) return;
    await run.queue.do(async () => {
      const batch = take(run);
      if (batch && !run.failure) await this.#storeBatch(runId, run, batch);
    });
    if (run.failure) throw run.failure.error;
  }

  /** The runs of a thread. */
  runsOf(threadId: string): string[] {
    return [...this.#runs].flatMap(([runId, run]) => (run.threadId === threadId ? [runId] : []));
  }

  /** Waits for what is being stored, and leaves the rest to `finish`. @throws why something could not be stored. */
  async settle(runId: string): Promise<void> {
    const run = this.#runs.get(runId);
    if (run === undefined) return;
    run.isEnding = true;
    clearTimeout(run.timer);
    await run.queue.do(async () => undefined);
    if (run.failure) throw run.failure.error;
  }

  /** Ends a run with what is not stored yet, after all that is being stored. */
  async finish<T>(runId: string, end: (unstored: Unstored) => Promise<T>): Promise<T> {
    const run = this.#runs.get(runId);
    if (run === undefined) return end({ batch: undefined });
    return run.queue.do(() => {
      const batch = take(run);
      return end(run.failure ? { failure: run.failure.error } : { batch });
    });
  }

  /** Stores the batch of a run that `finish` has handed out, by itself. */
  store(runId: string, batch: CheckpointBatch): Promise<void> {
    return this.#store(runId, batch);
  }

  async #storeBatch(runId: string, run: GatheredRun, batch: CheckpointBatch): Promise<void> {
    try {
      await run.inRun(this.#store, runId, batch);
    } catch (error) {
      run.failure ??= { error };
    }
  }
}

function take(run: GatheredRun): CheckpointBatch | undefined {
  const { batch } = run;
  clearTimeout(run.timer);
  run.batch = run.timer = undefined;
  return batch;
}

async function turnAfter(lastWrite: Promise<void>, run: GatheredRun): Promise<void> {
  await lastWrite;
  if (run.failure) throw run.failure.error;
}

async function arrivalOf(turn: Promise<void>, written: Promise<unknown>, run: GatheredRun): Promise<void> {
  const [, outcome] = await Promise.allSettled([turn, written]);
  if (outcome.status === 'rejected') run.failure ??= { error: outcome.reason };
}
