/** Why a request is refused: the status, and a sentence for the client. */
export interface Refusal {
  status: number;
  /** Ends with a full stop. */
  problem: string;
  /** `Retry-After` (seconds). */
  retryAfter?: number;
}

/** The refusal of a moment in which nothing can be taken. */
export const comeAgain = (problem: string, retryAfter = 10): Refusal => ({ status: 503, problem, retryAfter });
