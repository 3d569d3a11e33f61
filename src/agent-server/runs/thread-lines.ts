/** A run that stands in line on its thread. */
export interface InLine {
  /** The database's order of acceptance. */
  sequence: number;
  /** Settles when the run has ended. */
  ended: Promise<unknown>;
}

/**
 * The runs that this process has in hand, thread by thread. A run waits for the one that was accepted before it, never
 * for a later one: the answers of the database, and runs that other processes left, come in any order, and two runs
 * that wait for each other would wait for ever.
 */
export class ThreadLines {
  readonly #lines = new Map<string, Set<InLine>>();

  /** The end of the run on the thread that was accepted last before `sequence`; undefined where none is in hand. */
  endBefore(threadId: string, sequence: number): Promise<unknown> | undefined {
    const earlier = [...(this.#lines.get(threadId) ?? [])].filter((run) => run.sequence < sequence);
    return earlier.reduce<InLine | undefined>(
      (last, run) => (last && last.sequence > run.sequence ? last : run),
      undefined,
    )?.ended;
  }

  /** @returns takes the run out of its line again. */
  add(threadId: string, run: InLine): () => void {
    const line = this.#lines.get(threadId) ?? new Set<InLine>();
    this.#lines.set(threadId, line.add(run));
    return () => {
      line.delete(run);
      if (line.size === 0 && this.#lines.get(threadId) === line) this.#lines.delete(threadId);
    };
  }
}
