import type { Answer } from './connection.ts';

/** What an application still says after the beginning of its response. */
export interface RestOfResponse {
  events: AsyncGenerator<Answer, Answer, void>;
  /** The client has left, which the application hears of. */
  leave: () => void;
  /** Takes all that is left: an application may work on after its response, which nobody waits for. */
  drain: () => Promise<void>;
  /** Logs why there is no more. */
  fail: (error: unknown) => void;
}
