import { formatDuration } from '../config/duration.ts';
import type { Expectation, SmokeTest } from '../config/smoke-test.ts';
import { checkPath, type CheckResult } from './expectation-value.ts';
import { formatExpectation, createFormatter, type Redact, type TextFormatter } from './format-expectation.ts';
import type { Evidence, ExpectationResult, NamedVerdict, TestVerdict, Verdict } from './verdict-types.ts';

type AnsweredEvidence = Extract<Evidence, { kind: 'answered' }>;

const asItIs: Redact = (text) => text;

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
  return expectationsOf(test).map((expectation) => ({
    expectation,
    expected: formatExpectation(expectation),
    ...(evidence.kind === 'answered'
      ? checkExpectation(expectation, evidence, words)
      : { held: false, seen: 'no answer' }),
  }));
}

function checkExpectation(expectation: Expectation, answer: AnsweredEvidence, words: TextFormatter): CheckResult {
  switch (expectation.kind) {
    case 'status':
      return { held: !answer.refused && answer.status === expectation.equals, seen: statusSeen(answer, words) };
    case 'value':
      return checkPath(expectation.path, expectation.test, answer.values, words);
    case 'nodes':
      return { held: nodesHeld(expectation, answer.nodes), seen: words.nodes(answer.nodes, ' → ') };
    case 'first-event':
      return answer.firstEventMs === undefined
        ? { held: false, seen: 'no event arrived' }
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
interface JudgedAttempt {
  answer: AnsweredEvidence;
  held: readonly ExpectationResult[];
  kind: 'right' | 'wrong' | 'late';
}

function judgeAll(test: SmokeTest, attempts: readonly Evidence[], redact: Redact): JudgedAttempt[] {
  return attempts.flatMap((answer) => {
    if (answer.kind !== 'answered') return [];
    const held = judge(test, answer, redact);
    const missed = held.filter((each) => !each.held);
    const late = missed.every(({ expectation: { kind } }) => kind === 'first-event' || kind === 'total');
    return [{ answer, held, kind: missed.length === 0 ? 'right' : late ? 'late' : 'wrong' }];
  });
}

/**
 * The verdict on all attempts at one test. What could not be reached says nothing. What answered must agree: right and
 * wrong together prove nothing. An answer that was only late, before a right one, was a cold start.
 */
export function concludeTest(test: SmokeTest, attempts: readonly Evidence[], redact: Redact = asItIs): TestVerdict {
  const judged = judgeAll(test, attempts, redact);
  const last = judged.findLast(({ kind }) => kind === 'wrong') ?? judged.at(-1);
  if (!last) {
    const because = isDenied(attempts) ? 'denied' : 'unreachable';
    return { kind: 'unproven', because, why: unreachable(attempts, createFormatter(redact)) };
  }
  const firstRight = judged.findIndex(({ kind }) => kind === 'right');
  if (firstRight === -1) return verdictOf('failed', last);
  const against = judged.filter(({ kind }, index) => kind === 'wrong' || (kind === 'late' && index > firstRight));
  if (against.length === 0) return verdictOf('passed', last);
  return { kind: 'unproven', because: 'disagreement', why: disagreement(judged.length, against) };
}

const verdictOf = (kind: 'passed' | 'failed', { answer, held }: JudgedAttempt): TestVerdict => ({
  kind,
  held,
  firstEventMs: answer.firstEventMs,
  totalMs: answer.totalMs,
});

function isDenied(attempts: readonly Evidence[]): boolean {
  const last = attempts.at(-1);
  return last?.kind === 'unreachable' && last.denied === true;
}

function unreachable(attempts: readonly Evidence[], words: TextFormatter): string {
  const last = attempts.at(-1);
  if (last?.kind !== 'unreachable') return 'no request was sent';
  if (last.denied) return `the caller is refused: ${words.text(last.why)}`;
  const often = attempts.length === 1 ? 'in one attempt' : `in ${attempts.length} attempts`;
  return `no answer ${often}: ${words.text(last.why)}`;
}

function disagreement(answers: number, against: readonly JudgedAttempt[]): string {
  const missed = against.at(-1)?.held.find(({ held }) => !held);
  const what = missed ? `: ${missed.expected}, but once it was ${missed.seen}` : '';
  return `${against.length} of ${answers} answers were wrong and the others right${what}`;
}

/**
 * Whether another attempt is worth its time: after no answer, and after a wrong one to see whether the next agrees.
 * A right answer is enough, and so are two that disagree, and a caller that is refused.
 */
export function nextAttempt(test: SmokeTest, attempts: readonly Evidence[]): 'again' | 'enough' {
  if (attempts.length >= test.attempts || isDenied(attempts)) return 'enough';
  return judgeAll(test, attempts, asItIs).some(({ kind }) => kind === 'right') ? 'enough' : 'again';
}

/** All tests together: one that failed fails all, else one that is unproven leaves all unproven. */
export function concludeAll(tests: readonly NamedVerdict[]): Verdict {
  const kinds = new Set(tests.map(({ verdict }) => verdict.kind));
  const kind = (['failed', 'unproven', 'passed'] as const).find((each) => kinds.has(each)) ?? 'none';
  return { kind, tests };
}
