/** The options of a call to any service. */
export interface CallOptions {
  /** Aborts the call, which rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** The time (ms since the epoch, by the client's clock) at which the call ends; no attempt starts after it. */
  deadline?: number | undefined;
}
