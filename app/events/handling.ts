import type { AppContext } from '../context.ts';
import type { DecisionOf, EventDecision, PullRequestAt } from './event-types.ts';

/** Examines a pull request and puts the check `Landfall` on its head. Safe to call twice for the same head. */
export interface PullRequestExaminer {
  examine(pull: PullRequestAt): Promise<void>;
}

/** A handler's arguments besides the decision. */
export interface Handling {
  context: AppContext;
  pullRequests: PullRequestExaminer;
  /** The delivery's GUID: the key of every cause that it is. */
  delivery: string;
}

/**
 * Carries out what an event requires. It may run again for the same delivery after a crash, so it must be idempotent.
 * @returns what was done, each as a short clause.
 */
export type Handler<Kind extends EventDecision['kind']> = (
  decision: DecisionOf<Kind>,
  handling: Handling,
) => Promise<readonly string[]>;
