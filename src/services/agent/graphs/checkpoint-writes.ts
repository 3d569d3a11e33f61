import type { FreeObject } from '../../../contract/agent/open-word.ts';
import { RunOwnershipLost } from '../storage/retry-policy.ts';
import { WriteBehind, type StoreBatch } from './write-behind.ts';

/** A run as its checkpoints know it. */
interface WritingRun {
  runId: string;
  threadId: string;
  metadata: FreeObject;
  /** Whether each of its writes is stored before the engine goes on. */
  isSync: boolean;
}

/** Tracks pending checkpoint writes by run: the engine of a stopped run may still be writing. */
export class CheckpointWriteTracker {
  /** What runs have written and is not stored yet: callers that need it stored first ask this object. */
  readonly behind: WriteBehind;
  readonly #metadata = new Map<string, FreeObject>();
  readonly #byRun = new Map<string, Set<Promise<unknown>>>();
  readonly #closed = new Set<string>();

  constructor(store: StoreBatch) {
    this.behind = new WriteBehind(store);
  }

  /** Has the checkpoints of a run include its metadata, until `endRun`. */
  beginRun({ runId, threadId, metadata, isSync }: WritingRun): void {
    this.#metadata.set(runId, metadata);
    if (!isSync) this.behind.begin(runId, threadId);
  }

  /** Ignored if the run, which another process had taken, has begun here again. */
  endRun({ runId, metadata }: Pick<WritingRun, 'runId' | 'metadata'>): void {
    if (this.#metadata.get(runId) !== metadata) return;
    this.#metadata.delete(runId);
    this.behind.forget(runId);
  }

  metadataOf(runId: string): FreeObject | undefined {
    return this.#metadata.get(runId);
  }

  /**
   * Counts a write as pending until it ends; `runId` is null for a manual update. @param write serializes at once, and
   * stores after `turn`. @throws if the run may not write.
   */
  async during<T>(runId: string | null, write: (turn: Promise<void>) => Promise<T>): Promise<T> {
    if (runId === null) return write(Promise.resolve());
    if (this.#closed.has(runId)) throw new RunOwnershipLost('The run was stopped. Its later writes are discarded.');
    const writes = this.#byRun.get(runId) ?? new Set();
    this.#byRun.set(runId, writes);
    const written = this.behind.writeInTurn(runId, write);
    writes.add(written);
    try {
      return await written;
    } finally {
      writes.delete(written);
      if (writes.size === 0) this.#byRun.delete(runId);
    }
  }

  /** Waits for the writes of a run, but for those that its end stores. @throws why something could not be stored. */
  async settle(runId: string): Promise<void> {
    await this.#settled(runId);
    await this.behind.settle(runId);
  }

  /** Stores what a run has written up to now. @throws why that is not possible. */
  async flush(runId: string): Promise<void> {
    await this.#settled(runId);
    await this.behind.flush(runId);
  }

  /** Stores what the runs of a thread have written up to now; what can't be stored fails its own run. */
  async flushThread(threadId: string): Promise<void> {
    for (const runId of this.behind.runsOf(threadId)) await this.flush(runId).catch(() => undefined);
  }

  async #settled(runId: string): Promise<void> {
    const underWay = this.#byRun.get(runId);
    if (underWay) await Promise.allSettled(underWay);
  }

  /** Blocks further writes of a run while `work` runs, which starts once the pending writes have finished. */
  async without<T>(runId: string, work: () => Promise<T>): Promise<T> {
    this.#closed.add(runId);
    try {
      await this.flush(runId).catch(() => undefined);
      return await work();
    } finally {
      this.#closed.delete(runId);
    }
  }
}

let drawn: number | undefined;

/**
 * The next version of a channel: the next whole number plus a fraction drawn for each step, so that two branches from
 * one checkpoint share no values. Within one synchronous step the same version follows the same version: the engine
 * uses it to see which nodes ran in parallel.
 */
export function nextChannelVersion(current: number | undefined): number {
  if (drawn === undefined) {
    drawn = (1 + Math.floor(Math.random() * 999_999_999)) / 1e9;
    queueMicrotask(() => (drawn = undefined));
  }
  return Number((Math.floor(current ?? 0) + 1 + drawn).toFixed(9));
}
