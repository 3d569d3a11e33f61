import type { StreamMode } from '../../contract/agent/stream-event.ts';
import type { Grader } from '../../contract/grader.ts';
import type { RateHypotheses, SequentialTest } from '../../kit/statistics/sequential-test.ts';

/** The verdict on conversations has this name among those of smoke tests, in every report. */
export const conversationsTest = 'conversations';

/**
 * One thing that an answer is held to. `path` is an RFC 9535 JSONPath query into the final values of the run
 * (`$.messages[-1].content`); at least one node must be found and every node found must hold.
 */
export type Expectation =
  | { kind: 'status'; equals: 'success' | 'error' | 'interrupted' }
  | { kind: 'value'; path: string; test: ValueTest }
  /** The nodes that the run visited: exactly these in this order, or all of these in any order and with others. */
  | { kind: 'nodes'; order: 'sequence' | 'set'; nodes: readonly string[] }
  /** The messages and tool calls on the way to the answer. */
  | ({ kind: 'trajectory' } & ReferenceTrajectory)
  /** What a model is sent the answer for. It advises, unless it `decides`. */
  | { kind: 'graded'; path: string; grading: Grading; grader: Grader; decides: boolean }
  /** Milliseconds from sending the run to its first event after `metadata`, and to its last. */
  | { kind: 'first-event'; withinMs: number }
  | { kind: 'total'; withinMs: number };

/** What a model grades, before it is known which. */
export type UngradedExpectation = Omit<Extract<Expectation, { kind: 'graded' }>, 'grader'>;

/** What a model says of an answer: whether it meets a criterion, or means much the same as a text. */
export type Grading = { kind: 'judge'; criterion: string } | { kind: 'meaning'; text: string; atLeast: number };

export const trajectoryModes = ['strict', 'unordered', 'subset', 'superset'] as const;
export const argumentModes = ['exact', 'ignore', 'subset', 'superset'] as const;

/** How an agent should come to its answer, matched as by the package `agentevals`. */
export interface ReferenceTrajectory {
  /** Where the messages are. */
  path: string;
  /** `strict`: the same messages with the same calls; the others compare the calls of all messages only. */
  mode: (typeof trajectoryModes)[number];
  /** How the arguments of two calls of a tool are compared. */
  args: (typeof argumentModes)[number];
  messages: readonly TrajectoryMessage[];
}

export interface TrajectoryMessage {
  role: string;
  calls: readonly ToolCall[];
}

export interface ToolCall {
  name: string;
  args: unknown;
}

/** What must hold of a value. */
export type ValueTest =
  | { kind: 'equals'; value: unknown }
  | { kind: 'contains'; text: string }
  /** RE2 syntax: its time is linear in the text, whatever the pattern. */
  | { kind: 'matches'; pattern: string }
  | { kind: 'schema'; schema: Record<string, unknown> }
  /** The share of characters that need no change, from 0 to 1. */
  | { kind: 'similar'; text: string; atLeast: number }
  /** A text that is JSON, of a value that fits this schema. */
  | { kind: 'json'; schema: Record<string, unknown> }
  /** A text with an object or a list of JSON in it that fits this schema. */
  | { kind: 'contains-json'; schema: Record<string, unknown> };

/** What of the answers of two agents is compared. */
export const measures = [
  'answered',
  'pass-rate',
  'first-event',
  'total',
  'nodes',
  'node-order',
  'tools',
  'tool-order',
  'tokens',
  'cost',
] as const;
export type Measure = (typeof measures)[number];

/** Those that a test may leave out of what decides: that the new agent answers always decides. */
export const chosenMeasures = measures.filter((each) => each !== 'answered');

/** How the answers of a new agent are compared with those of the live one. */
export interface ComparisonDesign {
  /** The most answers of each agent. */
  tries: number;
  /** Points of the pass rate that must not be lost, from 0 to 1. */
  drop: number;
  /** The measures that a verdict follows from; the others are only reported. */
  decideBy: readonly Measure[];
  /** The file does not say what decides: times don't where the agents answer one after the other. */
  isUsual?: true;
  /** The tests of the deployment that compare, which share its false alarms. */
  tests: number;
}

/** Several answers to one question; at most `atOnce` requests are sent at the same time. */
export type Series = {
  atOnce: number;
  /** Given: so many answers are counted, whatever fewer of them decide. */
  answers?: number;
} & (
  | { kind: 'all-right'; tries: number }
  /** Right and wrong answers are counted until the boundaries say which of the two rates is meant. */
  | ({ kind: 'rate'; boundaries: SequentialTest } & RateHypotheses)
  /**
   * As many requests to the live agent, in pairs. Where `liveAnswersBefore` is given, the first so many are
   * those of the live agent, sent before the new one was there.
   */
  | ({ kind: 'live'; liveAnswersBefore?: number } & ComparisonDesign)
);

/** What a million tokens cost, by the name of the model. */
export type Prices = Readonly<Record<string, { input: number; output: number }>>;

/** A question for the deployed agent and what its answer must be. */
export interface SmokeTest {
  name: string;
  /** A graph id or an assistant's uuid. */
  assistant: string;
  /** Given: an assistant of this context is made for the test (of the graph `assistant`) and removed afterwards. */
  context?: Record<string, unknown>;
  /** `true`: on a thread that is made for the test and removed afterwards; else stateless. */
  thread: boolean;
  input: unknown;
  streamModes: readonly StreamMode[];
  expect: readonly Expectation[];
  /** How often the test may be tried while a cold start passes; at least 1. */
  attempts: number;
  /** Given: several answers decide, instead of one right one. */
  series?: Series;
  /** Given: the cost of an answer is counted by them. */
  prices?: Prices;
  /** Bound of one attempt, in ms. */
  timeoutMs: number;
  /** Its own time (ms), where the time that was left for all tests made `timeoutMs` shorter. */
  ownTimeoutMs?: number;
}

/** The test with so many answers, all of which are counted: what its pass rate decides stays, if it has one. */
export function withAnswers({ series, ...test }: SmokeTest, answers: number): SmokeTest {
  if (series?.kind === 'rate') return { ...test, series: { ...series, answers } };
  return { ...test, series: { kind: 'all-right', tries: answers, answers, atOnce: series?.atOnce ?? 4 } };
}
