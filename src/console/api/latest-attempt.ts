/** The timeout of an attempt (ms), so that a dead connection does not stop the polling. */
const maxAttemptMs = 60_000;

/** Runs one attempt to load something at a time. */
export class LatestAttempt {
  #running: { abort: AbortController; startedAt: number } | undefined;
  #startedAt = -Infinity;

  /**
   * Whether a poll may start another attempt, at least `betweenMs` after the start of the last one: on a slow
   * connection one takes longer than the polling interval.
   */
  isDue(now: number, minIntervalMs = 0): boolean {
    if (this.#running) return now - this.#running.startedAt > maxAttemptMs;
    return now - this.#startedAt >= minIntervalMs;
  }

  /** Aborts the running attempt and starts another one. @returns undefined for an attempt that was aborted. */
  async run<T>(
    load: (signal: AbortSignal) => Promise<T>,
    now: number,
  ): Promise<{ data: T } | { error: unknown } | undefined> {
    this.end();
    const abort = new AbortController();
    const attempt = { abort, startedAt: now };
    this.#running = attempt;
    this.#startedAt = now;
    const outcome = await load(abort.signal).then(
      (data) => ({ data }),
      (error: unknown) => ({ error }),
    );
    if (this.#running !== attempt) return undefined;
    this.#running = undefined;
    return outcome;
  }

  /** Aborts the running attempt. */
  end(): void {
    this.#running?.abort.abort();
    this.#running = undefined;
  }
}
