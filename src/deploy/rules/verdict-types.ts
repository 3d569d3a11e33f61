import type { Expectation, Measure } from '../file/smoke-test.ts';
import type { RunError } from '../../contract/agent/run.ts';
import type { ObservedRate } from '../../kit/statistics/sequential-test.ts';

/** Right, wrong, or right in everything but its time. */
export type AnswerKind = 'right' | 'wrong' | 'late';

/** Whose fault it is that no answer came: the agent's, which hangs or answers HTTP 500, or that of its model's provider. */
export type Fault = 'hangs' | 'server-error' | 'provider';

/** What is counted and compared of one answer. */
export interface Sample {
  /** A late answer is not right. */
  answer: AnswerKind;
  /** It counts as wrong because the agent gave none. */
  isMissing?: true | undefined;
  firstEventMs: number | undefined;
  /** Undefined where the agent refused the request: nothing ran that could take long. */
  totalMs: number | undefined;
  /** The first nodes that it visited; only where they are compared. */
  nodes?: readonly string[] | undefined;
  /** The first tools that it called; only where they are compared. */
  tools?: readonly string[] | undefined;
  tokens?: number | undefined;
  /** By the prices of the test. */
  cost?: number | undefined;
  /** Of the expectations that only advise. */
  advice?: Advice | undefined;
}

/** Whether each thing that only advises held, in its order; null where its model did not say. */
export type Advice = readonly (boolean | null)[];

/** The evidence of one attempt at a smoke test, before it is judged. */
export type Evidence =
  | {
      kind: 'answered';
      status: 'success' | 'error' | 'interrupted';
      /** Final values of the run; undefined where it brought none. */
      values: unknown;
      error?: RunError;
      /** The server would not run it at all: an answer, but no status of a run. */
      refused?: true;
      /** Names of the nodes in the order of their updates. */
      nodes: readonly string[];
      /** ms from sending to the first event after `metadata`; undefined without such an event. */
      firstEventMs: number | undefined;
      totalMs: number;
      /** What models say of the answer, in the order of the expectations that they grade. */
      grades?: readonly Grade[];
    }
  /** An answer of a series that was judged and not kept, but for what is compared of it. */
  | ({ kind: 'judged' } & Sample)
  /** No whole answer: the agent could not be reached, was not ready, or the stream ended early. */
  | {
      kind: 'unreachable';
      why: string;
      /** Absent: it is not known whose. */
      fault?: Fault;
      /** How long the model's provider asks to wait (ms). */
      retryAfterMs?: number;
      /** It answered that the caller may not ask (401, 403), which asking again does not change. */
      denied?: true;
      /** There was an answer, and the model that decides whether it is right did not say. */
      ungraded?: true;
    };

/** What a model says of an answer, or why it says nothing that counts. Bounded, and without known secrets. */
export type Grade = { kind: 'graded'; held: boolean; why: string } | { kind: 'ungraded'; why: string };

/** What the live revision is taken as the measure of. */
interface NoWorse {
  kind: 'no-worse';
  measure: Measure;
}

/** That a conversation of the live revision goes on. */
interface GoesOn {
  kind: 'goes-on';
}

/** That the model's provider answers. */
interface ProviderAnswers {
  kind: 'provider';
}

/** One thing that was expected, and what was seen of it. */
export interface ExpectationResult {
  expectation: Expectation | NoWorse | GoesOn | ProviderAnswers;
  held: boolean;
  /** The expectation in words, for example `$.reply contains "hello"`. */
  expected: string;
  /** What was seen instead or as well, in bounded words. */
  seen: string;
  /** It is only shown: the verdict does not follow from it. */
  advises?: true;
  /** The model that grades it did not say whether it holds. */
  ungraded?: true;
}

/**
 * Why nothing is proven: no response, runs that begin and do not end, HTTP 500, failures of the model's provider, too many requests
 * without a response, access denied, contradicting, too few, unjudged or ungraded responses, no agent to test, or another revision that
 * may have answered.
 */
export type UnprovenReason =
  | 'unreachable'
  | 'hangs'
  | 'server-error'
  | 'provider'
  | 'missing'
  | 'denied'
  | 'disagreement'
  | 'undecided'
  | 'unjudged'
  | 'ungraded'
  | 'no-address'
  | 'nothing-live'
  | 'replaced';

/** What is said of one measure. `chance` is its p-value, with all looks counted. */
export interface Measured {
  measure: Measure;
  verdict: 'worse' | 'no-worse' | 'undecided' | 'not-measured';
  /** Whether the verdict of the test follows from it; else it is only reported. */
  decides: boolean;
  chance: number;
  /** Right answers, median ms or tokens, or the number of different paths. */
  live: number;
  changed: number;
}

/** The answers of the new agent beside those of the live one. */
export interface Comparison {
  live: Omit<ObservedRate, 'passRate' | 'lowRate'>;
  changed: Omit<ObservedRate, 'passRate' | 'lowRate'>;
  /** Requests without an answer, of either agent. */
  unreachable: number;
  measures: readonly Measured[];
  /** The total times (ms) of all answers. */
  times: { live: readonly number[]; changed: readonly number[] };
  /** Whether the live agent answered beside the new one, or before it. */
  isBeside: boolean;
  /** Where nothing is worse and something is open: how many answers of each would decide it; null if three times as many would not. */
  needed?: number | null;
  /** A wrong answer of the agent that is right less often. */
  example?: { of: 'live' | 'new'; expected: string; seen: string };
}

/** A verdict that an answer has proven; of a series the one that shows it best. */
export interface ProvenVerdict {
  kind: 'passed' | 'failed';
  held: readonly ExpectationResult[];
  firstEventMs: number | undefined;
  totalMs: number;
  /** Of a series. */
  rate?: ObservedRate;
  /** Of a test against the live revision. */
  comparison?: Comparison;
}

/** One smoke test's verdict. */
export type TestVerdict =
  | ProvenVerdict
  /** Unreachable, or attempts that disagree: never a reason to roll back. */
  | { kind: 'unproven'; because: UnprovenReason; why: string; rate?: ObservedRate; comparison?: Comparison };

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
