/** What a caller may say about one call, whichever service it goes to. */
export interface CallOptions {
  /** Ends the call early; it then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** The moment (ms since the epoch, by the client's clock) after which no attempt is begun and none goes on. */
  deadline?: number | undefined;
}
