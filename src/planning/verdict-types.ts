import type { Expectation } from '../config/smoke-test.ts';
import type { ObservedRate } from '../sequential-test.ts';

/** Right, wrong, or right in everything but its time. */
export type AnswerKind = 'right' | 'wrong' | 'late';

/** The evidence of one attempt at a smoke test, before it is judged. */
export type Evidence =
  | {
      kind: 'answered';
      status: 'success' | 'error' | 'interrupted';
      /** Final values of the run; undefined where it brought none. */
      values: unknown;
      error?: { error: string; message: string };
      /** The server would not run it at all: an answer, but no status of a run. */
      refused?: true;
      /** Names of the nodes in the order of their updates. */
      nodes: readonly string[];
      /** ms from sending to the first event after `metadata`; undefined without such an event. */
      firstEventMs: number | undefined;
      totalMs: number;
    }
  /** An answer of a series that was judged and not kept. */
  | { kind: 'judged'; answer: AnswerKind; firstEventMs: number | undefined; totalMs: number }
  /** No whole answer: the agent could not be reached, was not ready, or the stream ended early. */
  | {
      kind: 'unreachable';
      why: string;
      /** It answered that the caller may not ask (401, 403), which asking again does not change. */
      denied?: true;
    };

/** One thing that was expected, and what was seen of it. */
export interface ExpectationResult {
  expectation: Expectation;
  held: boolean;
  /** The expectation in words, for example `$.reply contains "hello"`. */
  expected: string;
  /** What was seen instead or as well, in bounded words. */
  seen: string;
}

/**
 * Why nothing is proven: no response, access denied, contradicting, too few or unjudged responses, no agent to test, or another
 * revision that may have answered.
 */
export type UnprovenReason =
  'unreachable' | 'denied' | 'disagreement' | 'undecided' | 'unjudged' | 'no-address' | 'nothing-live' | 'replaced';

/** A verdict that an answer has proven; of a series the one that shows it best. */
export interface ProvenVerdict {
  kind: 'passed' | 'failed';
  held: readonly ExpectationResult[];
  firstEventMs: number | undefined;
  totalMs: number;
  /** Of a series. */
  rate?: ObservedRate;
}

/** One smoke test's verdict. */
export type TestVerdict =
  | ProvenVerdict
  /** Unreachable, or attempts that disagree: never a reason to roll back. */
  | { kind: 'unproven'; because: UnprovenReason; why: string; rate?: ObservedRate };

/** The verdict on one smoke test, and in how many attempts it was come to. */
export interface NamedVerdict {
  name: string;
  attempts: number;
  verdict: TestVerdict;
}

/** All tests together: failed where one failed, else unproven where one is, else passed; `none` where there was no test. */
export interface Verdict {
  kind: 'passed' | 'failed' | 'unproven' | 'none';
  tests: readonly NamedVerdict[];
}
