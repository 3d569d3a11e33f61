import type { Series, SmokeTest } from '../file/smoke-test.ts';
import { decide, fewestMore, type ObservedRate } from '../../kit/statistics/sequential-test.ts';
import { isReachable, nextOfLive, receiverOf, requestsOfLive } from './against-live.ts';
import { sampleOf } from './compare.ts';
import { providerAdvice, withCounts } from '../words/advice.ts';
import { atOnceAfter, isPatienceOver, othersFault, reasonOf } from './patience.ts';
import { isAgentsFault, judgeAll, verdictOf, type JudgedAttempt } from './judge.ts';
import { whyMissing, whySilent, whyUndecided } from '../words/unproven.ts';
import type { Evidence, TestVerdict, UnprovenReason } from './verdict-types.ts';

/** A series of one agent, which its own answers decide. */
type OwnSeries = Exclude<Series, { kind: 'live' }>;

// Verdicts that need several answers, each judged as a test of one answer is.

/** What the answers so far mean, counted in the order of their requests: a quick answer is not counted before a slow one. */
interface Count {
  decision: 'passed' | 'failed' | 'unproven' | 'continue';
  /** Of the answers that the decision is made of. */
  rate: ObservedRate;
}

function count(series: OwnSeries, judged: readonly JudgedAttempt[]): Count {
  // The first answer may have waited for a cold start.
  const warm = judged[0]?.kind === 'late' ? judged.slice(1) : judged;
  const rates = series.kind === 'rate' ? { passRate: series.passRate, lowRate: series.passRate - series.drop } : {};
  let right = 0;
  let decision: Count['decision'] = 'continue';
  for (const [index, { kind }] of warm.entries()) {
    if (kind === 'right') right += 1;
    const rate = { right, answers: index + 1, ...rates };
    if (decision === 'continue') decision = decisionOf(series, rate);
    if (decision !== 'continue' && series.answers === undefined) return { decision, rate };
  }
  return { decision, rate: { right, answers: warm.length, ...rates } };
}

function decisionOf(series: OwnSeries, { right, answers }: ObservedRate): Count['decision'] {
  if (series.kind === 'rate') return decide(series.boundaries, { right, wrong: answers - right });
  if (right > 0 && right < answers) return 'unproven';
  if (answers < series.tries) return 'continue';
  return right === answers ? 'passed' : 'failed';
}

/** The verdict on the answers of a series, of which there is at least one. */
export function concludeSeries(
  series: OwnSeries,
  attempts: readonly Evidence[],
  judged: readonly JudgedAttempt[],
): TestVerdict {
  const { decision, rate } = count(series, judged);
  const isShown = ({ kind, held }: JudgedAttempt): boolean =>
    held.length > 0 && (kind === 'right') === (decision === 'passed');
  const shown = judged.findLast(isShown) ?? judged.at(-1);
  if (!shown || decision === 'unproven' || decision === 'continue') {
    const undecided = series.kind === 'rate' ? 'undecided' : 'disagreement';
    // A test goes on until it is decided, unless the agent can't be reached any more.
    const isMissing = decision === 'continue' && rate.answers < (series.answers ?? Infinity);
    const silence = isMissing ? silenceAtEnd(attempts) : undefined;
    const because = silence?.because ?? (isMissing ? 'unreachable' : undecided);
    return { kind: 'unproven', because, why: whyUndecided(series, rate, silence?.why), rate };
  }
  const missing = missingAnswers(attempts);
  const requests = missing.length + rate.answers;
  if (decision === 'passed' && missing.length / requests > maxMissing(series)) {
    const why = whyMissing(rate, missing.length, requests);
    return { kind: 'unproven', because: reasonOfMost(missing), why, rate };
  }
  const held = [...withCounts(shown.held, judged), ...providerAdvice(attempts)];
  return { ...verdictOf(decision, { ...shown, held }), rate };
}

type Missing = Extract<Evidence, { kind: 'unreachable' }>;

/** Where it is not the drop of a pass rate, this share of the requests may bring no answer. */
const usualShare = 0.3;
const maxMissing = (series: OwnSeries): number => (series.kind === 'rate' ? series.drop : usualShare);

/** The requests after a cold start that are neither right nor wrong, whatever the reason. */
function missingAnswers(attempts: readonly Evidence[]): Missing[] {
  const first = attempts.findIndex((each) => each.kind !== 'unreachable' || reasonOf(each) !== 'unreachable');
  return attempts
    .slice(Math.max(0, first))
    .filter((each): each is Missing => each.kind === 'unreachable' && !isAgentsFault(each));
}

/** Whose fault most of the missing answers are, if it is known of most. */
function reasonOfMost(missing: readonly Missing[]): UnprovenReason {
  const fault = missing
    .map(othersFault)
    .find((each) => missing.filter((of) => othersFault(of) === each).length * 2 > missing.length);
  return fault ?? 'missing';
}

/** Why a series ended without an answer. */
function silenceAtEnd(attempts: readonly Evidence[]): { because: UnprovenReason; why: string } | undefined {
  const last = attempts.at(-1);
  if (last?.kind !== 'unreachable') return undefined;
  const count = attempts.length - 1 - attempts.findLastIndex(({ kind }) => kind !== 'unreachable');
  return { because: reasonOf(last), why: whySilent(count, last.why) };
}

/** Whether a series needs another answer: until it is decided, and while the agent can be reached. */
export function nextOfSeries(series: Series, test: SmokeTest, attempts: readonly Evidence[]): 'again' | 'enough' {
  if (series.kind === 'live') return nextOfLive(series, test, attempts);
  if (isPatienceOver(test, attempts)) return 'enough';
  const { decision, rate } = count(series, judgeAll(test, attempts));
  const isOpen = series.answers === undefined ? decision === 'continue' : rate.answers < series.answers;
  return isOpen && attempts.length < maxAttempts(series, test) ? 'again' : 'enough';
}

/** An agent that is often unreachable costs no more than twice the tries. */
const maxAttempts = (series: OwnSeries, { attempts }: SmokeTest): number =>
  2 * (series.answers ?? (series.kind === 'rate' ? series.boundaries.maxTries : series.tries)) + attempts;

/** Whether the agent is given time before the next attempt: not where it answers, and a series goes on. */
export const isPauseDue = (test: SmokeTest, attempts: readonly Evidence[]): boolean =>
  !test.series || !isReachable(test, attempts);

/**
 * How many attempts are made at once: first one alone, which a cold start may delay, and never more than the test can
 * need.
 */
export function attemptsAtOnce(test: SmokeTest, attempts: readonly Evidence[]): number {
  const { series } = test;
  if (series?.kind === 'live') return requestsOfLive(series, test, attempts);
  if (!series || attempts.length === 0 || isPauseDue(test, attempts)) return 1;
  const { right, answers } = count(series, judgeAll(test, attempts)).rate;
  const atOnce = atOnceAfter(attempts, series.atOnce);
  if (series.answers !== undefined) return Math.max(1, Math.min(atOnce, series.answers - answers));
  const needed =
    series.kind === 'rate' ? fewestMore(series.boundaries, { right, wrong: answers - right }) : series.tries - answers;
  return Math.max(1, Math.min(atOnce, needed));
}

/** Answers of a given number may be compared later. */
export const isCompared = ({ series }: Pick<SmokeTest, 'series'>): boolean =>
  series?.kind === 'live' || series?.answers !== undefined;

/** An answer as it is counted; what could not be reached, as it is. */
export function asJudged(test: SmokeTest, evidence: Evidence): Evidence {
  const sample = sampleOf(test, evidence);
  if (!sample) return evidence;
  const { answer, firstEventMs, totalMs, advice, ...compared } = sample;
  return {
    kind: 'judged',
    answer,
    firstEventMs,
    totalMs,
    ...(isCompared(test) ? compared : {}),
    ...(advice ? { advice } : {}),
  };
}

/** The attempts of a series without the answers that no report shows; of one answer all of them. */
export function compactAttempts(test: SmokeTest, attempts: readonly Evidence[]): readonly Evidence[] {
  if (!test.series) return attempts;
  const judged = attempts.map((evidence) => judgeAll(test, [evidence])[0]);
  const lastOf = (agent: 'live' | 'new', isRight: boolean): number =>
    judged.findLastIndex(
      (each, index) =>
        receiverOf(test, index) === agent &&
        each !== undefined &&
        (isRight ? each.kind === 'right' : each.kind !== 'right' && each.held.length > 0),
    );
  const shown = new Set([lastOf('new', false), lastOf('new', true), lastOf('live', false)]);
  return attempts.map((evidence, index) => (shown.has(index) ? evidence : asJudged(test, evidence)));
}
