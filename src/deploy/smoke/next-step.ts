import { backoffMs } from '../../kit/clock.ts';
import type { SmokeTest } from '../file/smoke-test.ts';
import { turnsOf, type Receiver } from '../rules/against-live.ts';
import { providerWaitMs } from '../rules/patience.ts';
import { attemptsAtOnce, isPauseDue } from '../rules/series.ts';
import { nextAttempt } from '../rules/verdict.ts';
import type { Evidence } from '../rules/verdict-types.ts';

/** What is known of a test between two steps. */
export interface TestCourse {
  /** Those that were made; the answers that a live agent gave before are the first. */
  attempts: readonly Evidence[];
  /** How many are under way, whose answers are not among them. */
  underWay?: number;
  /** How many attempts are made next; none where the test has ended. */
  count: number;
  /** When they are made (ms since the epoch). */
  notBefore: number;
}

/** What a test does now. */
export type TestStep =
  /** Sends attempts, or follows those under way: the receivers of a turn one after the other, the turns at once. */
  | { kind: 'send' | 'follow'; turns: Receiver[][] }
  | { kind: 'wait'; until: number }
  | { kind: 'end'; isOutOfTime: boolean };

/** How long the next attempt is waited for (ms): it doubles, for a cold start may take a while. */
const firstPauseMs = 2_000;
const maxPauseMs = 15_000;
/** A `notBefore` that is later than this (ms) means that the clock was set back: then the attempt is made at once. */
const maxPlausibleWaitMs = 60_000;

/** What is known of a request that the time of the tests leaves no room for: it is not sent, or not waited for. */
export const tooLate: Evidence = { kind: 'unreachable', why: 'the time for the tests was over' };

/** A test before its first attempt. */
export const beginTest = (test: SmokeTest, former: readonly Evidence[]): TestCourse => ({
  attempts: former,
  count: attemptsAtOnce(test, former),
  notBefore: 0,
});

/** How many attempts these are followed by, at once. */
export const countAfter = (test: SmokeTest, attempts: readonly Evidence[]): number =>
  nextAttempt(test, attempts) === 'again' ? attemptsAtOnce(test, attempts) : 0;

/**
 * When the next attempts are made (ms since the epoch): at once where the agent answers and a series goes on, else after
 * a pause, as long as the model's provider asks where it failed. Never later than `until`: the rest of a hold is needed to
 * decide it.
 */
export function dueAfter(
  test: SmokeTest,
  attempts: readonly Evidence[],
  { now, until, random }: { now: number; until: number; random: () => number },
): number {
  if (!isPauseDue(test, attempts)) return now;
  const pauseMs = backoffMs(attempts.length, firstPauseMs, maxPauseMs) * (0.9 + random() * 0.2);
  return Math.min(now + Math.max(pauseMs, providerWaitMs(attempts)), until);
}

/** What a test does now, in whichever host. */
export function nextStep(
  test: SmokeTest,
  { attempts, underWay = 0, count, notBefore }: TestCourse,
  { now, until }: { now: number; until: number },
): TestStep {
  if (count === 0) return { kind: 'end', isOutOfTime: false };
  if (now >= until) return { kind: 'end', isOutOfTime: true };
  if (underWay > 0) return { kind: 'follow', turns: turnsOf(test, attempts.length, underWay) };
  if (now < notBefore && notBefore <= now + maxPlausibleWaitMs) return { kind: 'wait', until: notBefore };
  return { kind: 'send', turns: turnsOf(test, attempts.length, count) };
}

/** A test as it is sent where the time that is left for all tests may be less than its own. */
export const withTimeLeft = (test: SmokeTest, leftMs: number): SmokeTest => ({
  ...test,
  timeoutMs: Math.min(test.timeoutMs, Math.max(1, leftMs)),
  ownTimeoutMs: test.timeoutMs,
});

/** Calls `make` for each item of a turn one after the other, and for the turns at once. Rejects once all have ended. */
export async function runTurns<T, Made>(
  turns: readonly (readonly T[])[],
  make: (each: T) => Promise<Made>,
): Promise<Made[]> {
  const made = turns.map(async (turn) => {
    const ofTurn: Made[] = [];
    for (const each of turn) ofTurn.push(await make(each));
    return ofTurn;
  });
  // Waits for all, because a cancelled turn still removes what it made.
  await Promise.allSettled(made);
  return (await Promise.all(made)).flat();
}
