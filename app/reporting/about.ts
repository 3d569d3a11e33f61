/** Context of a check that the intent itself does not hold. */
export interface About {
  /** What the deployment is busy with, where this one waits for it. */
  waitingFor?: { commit: string; revisionId?: string | undefined } | undefined;
  /** ms since the epoch */
  now: number;
}
