import type { Rollout } from '../rules/rollout-types.ts';
import type { Sample, Verdict } from '../rules/verdict-types.ts';

/** The service's revisions before anything was sent; null: there was none, absent: not known. */
export interface Former {
  latest?: string | null;
  live?: string | null;
}

/** A deploy that follows one revision by its id, whatever else becomes the newest. */
export interface Bound {
  revisionId: string;
  /** Made by our request; of the same commit and there already; or made by the service without a request. */
  how: 'triggered' | 'adopted' | 'found';
  former: Former;
  rollout: Rollout;
  /** The hold that was requested of the revision: then the deploy that follows it decides about it. */
  holdSeconds?: number;
  agentUrl?: string;
  /** The page of the revision in the service's console. */
  consolePage?: string;
}

/** What a revision answered to a test, by the test's name. */
export interface TestAnswers {
  test: string;
  samples: readonly Sample[];
}

/** What was found out about a revision by tests. */
export interface Proof {
  verdict: Verdict;
  /** Set where the verdict was found before the revision got traffic. */
  verified?: 'before-traffic';
  /** What the revision answered to the tests that compare it, until they are kept as its baselines. */
  compared?: readonly TestAnswers[];
}
