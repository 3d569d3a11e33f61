/** A run in the queue of its thread. */
export interface InLine {
  /** The database's order of acceptance. */
  sequence: number;
  /** Settles when the run has ended. */
  ended: Promise<unknown>;
}

/**
 * Queues the runs of this process by thread. A run only waits for one that was accepted before it: responses of the
 * database and runs of other processes arrive in any order, and two runs waiting for each other would deadlock.
 */
export class ThreadLines {
  readonly #lines = new Map<string, Set<InLine>>();

  /** The end of the last run before `sequence` on the thread; undefined if this process has none. */
  endBefore(threadId: string, sequence: number): Promise<unknown> | undefined {
    const earlier = [...(this.#lines.get(threadId) ?? [])].filter((run) => run.sequence < sequence);
    return earlier.reduce<InLine | undefined>(
      (last, run) => (last && last.sequence > run.sequence ? last : run),
      undefined,
    )?.ended;
  }

  /** @returns removes the run from its queue. */
  add(threadId: string, run: InLine): () => void {
    const line = this.#lines.get(threadId) ?? new Set<InLine>();
    this.#lines.set(threadId, line.add(run));
    return () => {
      line.delete(run);
      if (line.size === 0 && this.#lines.get(threadId) === line) this.#lines.delete(threadId);
    };
  }
}
