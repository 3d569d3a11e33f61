import { NotKept } from './not-kept.ts';

/**
 * The writes of checkpoints that are under way, run by run. A run that is stopped leaves its engine's last writes on their
 * way: what comes after it must neither miss them nor be overtaken by them.
 */
export class WritesUnderWay {
  readonly #byRun = new Map<string, Set<Promise<unknown>>>();
  readonly #closed = new Set<string>();

  /**
   * Counts a write as under way until it is over.
   *
   * @param runId null where somebody writes by hand.
   * @throws where the run may write no more, and what `write` throws.
   */
  async during<T>(runId: string | null, write: () => Promise<T>): Promise<T> {
    if (runId === null) return write();
    if (this.#closed.has(runId)) throw new NotKept('The run was stopped: what it does now is not kept.');
    const writes = this.#byRun.get(runId) ?? new Set();
    this.#byRun.set(runId, writes);
    const written = write();
    writes.add(written);
    try {
      return await written;
    } finally {
      writes.delete(written);
      if (writes.size === 0) this.#byRun.delete(runId);
    }
  }

  /** Has a run write no more while `work` is done, which begins once the writes that are under way are over. */
  async without<T>(runId: string, work: () => Promise<T>): Promise<T> {
    this.#closed.add(runId);
    try {
      const underWay = this.#byRun.get(runId);
      if (underWay) await Promise.allSettled(underWay);
      return await work();
    } finally {
      this.#closed.delete(runId);
    }
  }
}
