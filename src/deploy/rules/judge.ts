import { formatDuration } from '../file/written-text.ts';
import type { Expectation, SmokeTest } from '../file/smoke-test.ts';
import { checkPath, findValues, type CheckResult } from './expectation-value.ts';
import { formatExpectation, createFormatter, type Redact, type TextFormatter } from '../words/format-expectation.ts';
import { checkTrajectory } from './trajectory.ts';
import { adviceOf } from '../words/advice.ts';
import { whyProviderFailed } from '../words/unproven.ts';
import { unseen } from '../words/unseen.ts';
import { providerFailure } from './provider-failure.ts';
import type { Advice, AnswerKind, Evidence, ExpectationResult, Grade, ProvenVerdict } from './verdict-types.ts';

type AnsweredEvidence = Extract<Evidence, { kind: 'answered' }>;

export const asItIs: Redact = (text) => text;

/** What every test expects that says nothing of the status: a run that failed is no success, whatever it left behind. */
const success: Expectation = { kind: 'status', equals: 'success' };

const expectationsOf = ({ expect }: SmokeTest): readonly Expectation[] =>
  expect.some(({ kind }) => kind === 'status') ? expect : [success, ...expect];

/**
 * Checks one attempt against everything that its test expects, in the order of the test. `redact` is applied to the
 * agent's text before it is truncated for display; it does not change the result.
 */
export function judge(test: SmokeTest, evidence: Evidence, redact: Redact = asItIs): ExpectationResult[] {
  const words = createFormatter(redact);
  const graded = test.expect.filter(({ kind }) => kind === 'graded');
  return expectationsOf(test).map((expectation) => ({
    expectation,
    expected: formatExpectation(expectation),
    ...(evidence.kind !== 'answered'
      ? { held: false, seen: 'no answer' }
      : expectation.kind === 'graded'
        ? gradeResult(evidence.grades?.[graded.indexOf(expectation)], words)
        : checkExpectation(expectation, evidence, words)),
    ...(expectation.kind === 'graded' && !expectation.decides ? { advises: true as const } : {}),
  }));
}

function gradeResult(grade: Grade | undefined, words: TextFormatter): CheckResult & { ungraded?: true } {
  if (grade?.kind === 'graded') return { held: grade.held, seen: words.text(grade.why) };
  return { held: false, seen: grade ? words.text(grade.why) : 'not graded', ungraded: true };
}

/** What an answer lacks to be right. Advice is nothing that it could lack. */
const missedOf = (results: readonly ExpectationResult[]): ExpectationResult[] =>
  results.filter(({ held, advises }) => !held && !advises);

const isLate = ({ expectation: { kind } }: ExpectationResult): boolean => kind === 'first-event' || kind === 'total';

/** A run that ended in a failure of the model's provider is neither right nor wrong, unless an error is expected. */
export function asProviderFailure(test: Pick<SmokeTest, 'expect'>, evidence: Evidence): Evidence {
  if (evidence.kind !== 'answered' || evidence.status !== 'error' || evidence.refused || !evidence.error)
    return evidence;
  if (test.expect.some((each) => each.kind === 'status' && each.equals === 'error')) return evidence;
  const failure = providerFailure(evidence.error);
  if (!failure) return evidence;
  return {
    kind: 'unreachable',
    why: whyProviderFailed(evidence.error),
    fault: 'provider',
    ...failure,
  };
}

/** Whether no answer came by the agent's own fault: of several requests, that is not right. */
export const isAgentsFault = (evidence: Evidence): boolean =>
  evidence.kind === 'unreachable' && (evidence.fault === 'hangs' || evidence.fault === 'server-error');

/**
 * Graded evidence as it counts. Where a grader that decides said nothing, and nothing else is wrong, the answer is
 * neither right nor wrong.
 */
export function settled(test: SmokeTest, given: Evidence): Evidence {
  const evidence = asProviderFailure(test, given);
  if (evidence.kind !== 'answered' || !evidence.grades || judgeAll(test, [evidence]).length > 0) return evidence;
  const open = missedOf(judge(test, evidence)).find(({ ungraded }) => ungraded);
  return { kind: 'unreachable', why: open?.seen ?? 'not graded', ungraded: true };
}

function checkExpectation(
  expectation: Exclude<Expectation, { kind: 'graded' }>,
  answer: AnsweredEvidence,
  words: TextFormatter,
): CheckResult {
  switch (expectation.kind) {
    case 'status':
      return { held: !answer.refused && answer.status === expectation.equals, seen: statusSeen(answer, words) };
    case 'value':
      return checkPath(expectation.path, expectation.test, answer.values, words);
    case 'nodes':
      return { held: nodesHeld(expectation, answer.nodes), seen: words.nodes(answer.nodes, ' → ') };
    case 'trajectory': {
      const looked = findValues(expectation.path, answer.values);
      if ('problem' in looked) return { held: false, seen: looked.problem };
      return checkTrajectory(
        expectation,
        looked.found.map(({ value }) => value),
        words,
      );
    }
    case 'first-event':
      return answer.firstEventMs === undefined
        ? { held: false, seen: unseen.noEvent }
        : inTime(answer.firstEventMs, expectation.withinMs);
    case 'total':
      return inTime(answer.totalMs, expectation.withinMs);
  }
}

function statusSeen({ status, error, refused }: AnsweredEvidence, words: TextFormatter): string {
  if (refused) return `no run: ${words.text(`${error?.error}: ${error?.message}`)}`;
  return error ? `${status} (${words.text(`${error.error}: ${error.message}`)})` : status;
}

function nodesHeld({ order, nodes }: Extract<Expectation, { kind: 'nodes' }>, visited: readonly string[]): boolean {
  if (order === 'set') return nodes.every((name) => visited.includes(name));
  return nodes.length === visited.length && nodes.every((name, index) => name === visited[index]);
}

const inTime = (ms: number, withinMs: number): CheckResult => ({
  held: ms <= withinMs,
  seen: formatDuration(Math.round(ms)),
});

/** One attempt that brought an answer: right, wrong, or right in everything but its time. */
export interface JudgedAttempt {
  kind: AnswerKind;
  /** Empty where the answer was not kept. */
  held: readonly ExpectationResult[];
  firstEventMs: number | undefined;
  totalMs: number;
  advice: Advice;
}

/** Judges the attempts that brought an answer, in their order. */
export function judgeAll(test: SmokeTest, attempts: readonly Evidence[], redact: Redact = asItIs): JudgedAttempt[] {
  const words = createFormatter(redact);
  return attempts.flatMap((evidence): JudgedAttempt[] => {
    if (evidence.kind === 'unreachable') {
      if (!test.series || !isAgentsFault(evidence)) return [];
      const held = [
        { expectation: success, held: false, expected: formatExpectation(success), seen: words.text(evidence.why) },
      ];
      return [{ kind: 'wrong', held, firstEventMs: undefined, totalMs: 0, advice: [] }];
    }
    const { firstEventMs, totalMs = 0 } = evidence;
    if (evidence.kind === 'judged')
      return [{ kind: evidence.answer, held: [], firstEventMs, totalMs, advice: evidence.advice ?? [] }];
    const held = judge(test, evidence, redact);
    const missed = missedOf(held);
    const isOpen = missed.some(({ ungraded }) => ungraded);
    if (isOpen && missed.every((each) => each.ungraded || isLate(each))) return [];
    const late = missed.every(isLate);
    return [
      {
        kind: missed.length === 0 ? 'right' : late ? 'late' : 'wrong',
        held,
        firstEventMs,
        totalMs,
        advice: adviceOf(held),
      },
    ];
  });
}

/** A verdict that shows what one attempt answered. */
export const verdictOf = (
  kind: 'passed' | 'failed',
  { held, firstEventMs, totalMs }: JudgedAttempt,
): ProvenVerdict => ({
  kind,
  held,
  firstEventMs,
  totalMs,
});
