/** What a model needs of time: what it is, and something done later. */
export interface Timer {
  /** ms since the epoch */
  now(): number;
  after(ms: number, act: () => void): void;
}

/** The machine's own time, in which models that count in minutes live `faster` times as fast. */
export const hurriedTimer = (faster: number): Timer => ({
  now: () => Date.now(),
  after: (ms, act) => {
    setTimeout(act, ms / faster).unref();
  },
});
