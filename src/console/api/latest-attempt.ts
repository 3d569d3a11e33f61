/** An attempt of which nothing has come for so long is given up, so that a connection that died stops no reloading (ms). */
const longestAttemptMs = 60_000;

/** Makes one attempt at a time at loading something. */
export class LatestAttempt {
  #running: { abort: AbortController; startedAt: number } | undefined;

  /** Whether the next tick of a poll may try again: on a slow connection an attempt takes longer than the time between two. */
  isDue(now: number): boolean {
    return this.#running === undefined || now - this.#running.startedAt > longestAttemptMs;
  }

  /** Begins an attempt instead of the one that runs. Of an attempt that was ended so, neither result nor error counts. */
  async run<T>(
    load: (signal: AbortSignal) => Promise<T>,
    now: number,
  ): Promise<{ data: T } | { error: unknown } | undefined> {
    this.end();
    const abort = new AbortController();
    const attempt = { abort, startedAt: now };
    this.#running = attempt;
    const outcome = await load(abort.signal).then(
      (data) => ({ data }),
      (error: unknown) => ({ error }),
    );
    if (this.#running !== attempt) return undefined;
    this.#running = undefined;
    return outcome;
  }

  /** Ends the attempt that runs. */
  end(): void {
    this.#running?.abort.abort();
    this.#running = undefined;
  }
}
