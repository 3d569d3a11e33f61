import type { Verify } from '../file/desired.ts';
import type { ObservedStatus, Rollout } from '../rules/rollout-types.ts';
import type { Sample, Verdict } from '../rules/verdict-types.ts';

// What every host knows of the revision that its deploy is about.

/** The revision that a deploy is about: followed by its id, whatever else becomes the newest. */
export interface OwnRevision<How> {
  deploymentId: string;
  revisionId: string;
  how: How;
  /** The hold that was requested of it (s): then this deploy decides about it. */
  holdSeconds?: number;
}

/** What a revision answered to a test, by the test's name. */
export interface TestAnswers {
  test: string;
  samples: readonly Sample[];
}

/** What the tests of a revision found. */
export interface TestResult {
  verdict: Verdict;
  /** Whether it got traffic before; absent where that is not said, as of one that served all the time. */
  verified?: Verify;
  /** What it answered to the tests that compare it, until that is kept as its baselines. */
  compared?: readonly TestAnswers[];
}

/** A rollout of which nothing was seen yet. `seen` carries over what was seen of it before it was followed. */
export function rolloutOf(revisionId: string, seen: readonly ObservedStatus[] = []): Rollout {
  return { kind: 'in-progress', revisionId, seen };
}
