import type { AppContext } from '../context.ts';
import type { DecisionOf, EventDecision, PullRequestAt } from './event-types.ts';

/** Looks at a pull request and puts the check `Landfall` on its head. It may be asked twice about the same head. */
export interface PullRequestExaminer {
  examine(pull: PullRequestAt): Promise<void>;
}

/** What a handler is handed besides the decision. */
export interface Handling {
  context: AppContext;
  pullRequests: PullRequestExaminer;
  /** The delivery's GUID: the key of every cause that it is. */
  delivery: string;
}

/**
 * Carries out what an event asks for. It may run again for the same delivery after a crash, so everything it does can
 * be done twice. @returns what was done, each as a short clause.
 */
export type Handler<Kind extends EventDecision['kind']> = (
  decision: DecisionOf<Kind>,
  handling: Handling,
) => Promise<readonly string[]>;
