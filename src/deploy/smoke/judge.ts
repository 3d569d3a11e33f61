import type { SmokeTest } from '../file/smoke-test.ts';
import type { Evidence, Sample, TestVerdict } from '../rules/verdict-types.ts';
import { comparedAnswers, comparisonSoFar } from '../rules/against-live.ts';
import { judgeAll, settled } from '../rules/judge.ts';
import { compareStates, type ConversationProblem, type ConversationSides } from '../rules/conversations.ts';
import { asJudged, compactAttempts } from '../rules/series.ts';
import { countAfter } from './next-step.ts';
import { concludeTest, nextAttempt } from '../rules/verdict.ts';
import type { Redact } from '../words/format-expectation.ts';
import { maskOf } from '../../contract/masking/mask.ts';

/** The values of a deployment's secrets; null where the service could not return them, or hides one. */
type KnownSecrets = readonly string[] | null;

/** Where the secrets are unknown. */
export const notShown: Redact = (text) =>
  text === '' ? '' : '(not shown: the service did not return the secrets to redact)';

/** One smoke test and all attempts at it. */
interface Attempts {
  test: SmokeTest;
  attempts: readonly Evidence[];
}

/** What follows these attempts: so many more at once, or none; and what is stored of them until their end. */
export type JudgedAttempts =
  { kind: 'again' | 'enough'; count: number; kept: readonly Evidence[] } | { kind: 'unjudged' };

/** A verdict, and the answers of the tested agent where they were compared with others. */
export interface Conclusion {
  verdict: TestVerdict;
  compared: readonly Sample[];
}

/** Judges an agent's responses: they are untrusted, and so are the expectations of a repository. */
export interface Judge {
  nextAttempt(tried: Attempts): Promise<JudgedAttempts>;
  /** The verdict, without the secrets that the agent may repeat. `isOutOfTime`: no further attempt can be made. */
  conclude(tried: Attempts & { secrets: KnownSecrets; isOutOfTime?: boolean | undefined }): Promise<Conclusion>;
  /** What a new revision breaks of a conversation; undefined where comparing was given up. */
  compareStates(sides: ConversationSides): Promise<ConversationProblem[] | undefined>;
}

/** The verdict on a test that the hold of its revision leaves no more time for. */
export const outOfTime = {
  kind: 'unproven',
  because: 'undecided',
  why: 'the hold of the revision ends soon: send fewer requests, or verify after-traffic',
} as const satisfies TestVerdict;

/** What all attempts at a test prove. `isOutOfTime`: an undecided test is unproven, with what its attempts have shown. */
export function concludeAttempts(
  test: SmokeTest,
  attempts: readonly Evidence[],
  redact: Redact,
  isOutOfTime = false,
): Conclusion {
  const verdict = concludeTest(test, attempts, redact);
  if (!isOutOfTime || nextAttempt(test, attempts) === 'enough') {
    return { verdict, compared: comparedAnswers(test, attempts) };
  }
  const comparison = comparisonSoFar(test, attempts);
  const shown = { ...(verdict.kind === 'unproven' ? verdict : {}), ...(comparison && { comparison }) };
  return { verdict: { ...shown, ...outOfTime }, compared: [] };
}

/** Removes the known secrets from a verdict: an agent may repeat anything that it was given. */
export function redacted(verdict: TestVerdict, redact: Redact): TestVerdict {
  if (verdict.kind === 'unproven') return { ...verdict, why: redact(verdict.why) };
  return {
    ...verdict,
    held: verdict.held.map((each) => ({ ...each, expected: redact(each.expected), seen: redact(each.seen) })),
  };
}

/** Judges in the calling process. */
export const judgeHere: Judge = {
  nextAttempt: async ({ test, attempts: made }) => {
    const attempts = made.map((each) => settled(test, each));
    const count = countAfter(test, attempts);
    // Of a series that needs no more, others may still be under way.
    const kept = count > 0 || test.series ? keepAttempts(test, attempts) : [];
    if (!kept && count > 0) return { kind: 'unjudged' };
    return { kind: count > 0 ? 'again' : 'enough', count, kept: kept ?? [] };
  },
  conclude: async ({ test, attempts: made, secrets, isOutOfTime }) => {
    const attempts = made.map((each) => settled(test, each));
    // If the secrets are unknown, none of the agent's output is shown.
    const mask = secrets && maskOf(secrets);
    const { verdict, compared } = concludeAttempts(test, attempts, mask ?? notShown, isOutOfTime);
    return { verdict: mask ? redacted(verdict, mask) : verdict, compared: bounded(compared) };
  },
  compareStates: async (sides) => compareStates(sides),
};

const bounded = (samples: readonly Sample[]): readonly Sample[] =>
  JSON.stringify(samples).length > largest ? [] : samples;

/** The verdict on responses that could not be judged. A busy machine may be the reason, so it is no failure. */
export const unjudged: TestVerdict = {
  kind: 'unproven',
  because: 'unjudged',
  why: 'judging its responses takes too much time or memory: make the expectations simpler, or the responses shorter',
};

/** The largest responses of one test that are stored during its next attempt (characters of JSON, all together). */
const largest = 256 * 1024;

/**
 * Attempts as stored until the next one: every step reads them again. The values of the oldest are dropped first. A
 * wrong attempt stays wrong without its values; one that was only late proves nothing. Of a series nothing that is
 * counted is dropped: undefined where that does not fit. Of one that only measures nothing else is kept.
 */
export function keepAttempts(test: SmokeTest, attempts: readonly Evidence[]): Evidence[] | undefined {
  let room = largest;
  const fits = (evidence: Evidence): boolean => {
    const { length } = JSON.stringify(evidence);
    if (length > room) return false;
    room -= length;
    return true;
  };
  if (test.series) {
    const counted = attempts.map((each) => asJudged(test, each));
    if (!counted.every(fits)) return undefined;
    if (test.series.kind !== 'live' && test.series.answers !== undefined) return counted;
    const isKept = (whole: Evidence): boolean => whole.kind === 'answered' && fits(whole);
    return compactAttempts(test, attempts).map((whole, index) => (isKept(whole) ? whole : (counted[index] ?? whole)));
  }
  return attempts
    .toReversed()
    .map((whole) => [whole, withoutValues(test, whole)].find(fits) ?? tooLarge)
    .toReversed();
}

const tooLarge: Evidence = { kind: 'unreachable', why: 'its response was too large to store' };

function withoutValues(test: SmokeTest, evidence: Evidence): Evidence {
  if (evidence.kind !== 'answered') return evidence;
  return judgeAll(test, [evidence])[0]?.kind === 'wrong' ? { ...evidence, values: undefined } : tooLarge;
}
