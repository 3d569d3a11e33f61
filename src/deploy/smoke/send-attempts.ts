import { backoffMs, type Clock } from '../../kit/clock.ts';
import type { SmokeTest } from '../file/smoke-test.ts';
import type { AgentServer } from '../../contract/agent/service.ts';
import type { Graders } from '../../contract/grader.ts';
import { receiverOf, turnsOf } from '../rules/against-live.ts';
import { attemptsAtOnce, compactAttempts, isPauseDue } from '../rules/series.ts';
import { providerWaitMs, withTimeLeft } from '../rules/patience.ts';
import { nextAttempt } from '../rules/verdict.ts';
import type { Evidence } from '../rules/verdict-types.ts';
import type { DeployRun } from '../machine/deploy-run.ts';
import { gradeAnswer } from './grade-answer.ts';
import { sendTestRequest } from './send-test-request.ts';

/** The agents that answer a test, and the dependencies. */
export interface Sending {
  agent: AgentServer;
  /** The agent that serves, for tests against it. */
  live?: AgentServer | undefined;
  /** The models that grade answers. */
  graders?: Graders | undefined;
  clock: Clock;
  /** From 0 up to 1. */
  random: () => number;
  signal?: AbortSignal | undefined;
  /** When the tests must have come to an end (ms since the epoch). */
  until?: number | undefined;
  /** Receives what could not be removed after a test; `redact` removes secrets from untrusted text. */
  note?: ((text: string) => void) | undefined;
  redact?: ((text: string) => string) | undefined;
}

/** How long the next attempt is waited for (ms): it doubles, for a cold start may take a while. */
const firstPauseMs = 2_000;
const longestPauseMs = 15_000;

/** What is known of a request that the time of the tests leaves no room for: it is not sent. */
export const tooLate: Evidence = { kind: 'unreachable', why: 'the time for the tests was over' };

/** How long to wait (ms) when this many attempts were made. */
const pauseAfter = (attempts: number, random: () => number): number =>
  backoffMs(attempts, firstPauseMs, longestPauseMs) * (0.9 + random() * 0.2);

/** How long to wait (ms) before the next attempt: as long as the model's provider asks, where it failed. */
export const pauseBefore = (attempts: readonly Evidence[], random: () => number): number =>
  Math.max(pauseAfter(attempts.length, random), providerWaitMs(attempts));

/**
 * Sends the requests of a test, after `former` attempts, until it needs no more or its time is up. `seen` is called
 * with all attempts after each turn. Rejects only when the signal aborts.
 */
export async function sendAttempts(
  test: SmokeTest,
  former: readonly Evidence[],
  { agent, live, graders, clock, random, signal, until = Infinity, note, redact = (text) => text }: Sending,
  seen?: (attempts: readonly Evidence[], again: boolean) => void,
): Promise<{ attempts: readonly Evidence[]; isOutOfTime: boolean }> {
  const left = (what: string) => note?.(redact(`smoke test ${test.name} could not remove ${what}`));
  let attempts = former;
  for (;;) {
    if (clock.now() >= until) return { attempts, isOutOfTime: true };
    const sent = turnsOf(test, attempts.length, attemptsAtOnce(test, attempts)).map(async (turn) => {
      const answers: Evidence[] = [];
      for (const attempt of turn) {
        // Those before it in its turn have taken some of the time.
        const leftMs = until - clock.now();
        if (leftMs <= 0) {
          answers.push(tooLate);
          continue;
        }
        const receiver = receiverOf(test, attempt) === 'live' && live ? live : agent;
        const evidence = await sendTestRequest(withTimeLeft(test, leftMs), { agent: receiver, clock, signal, left });
        answers.push(await gradeAnswer(test, evidence, { graders, signal, redact }));
      }
      return answers;
    });
    // When they are cancelled, each of them still removes what it made.
    await Promise.allSettled(sent);
    attempts = compactAttempts(test, [...attempts, ...(await Promise.all(sent)).flat()]);
    const again = nextAttempt(test, attempts) === 'again';
    seen?.(attempts, again);
    if (!again) return { attempts, isOutOfTime: false };
    if (isPauseDue(test, attempts)) {
      // A provider may ask for more time than the tests have: what is left of a hold is for the decision.
      await clock.sleep(Math.max(0, Math.min(pauseBefore(attempts, random), until - clock.now())), signal);
    }
  }
}

/** The dependencies of a deploy run. */
export const sendingOf = (run: DeployRun): Omit<Sending, 'agent'> => ({
  graders: run.request.graders,
  clock: run.request.clock,
  random: run.request.random,
  signal: run.request.signal,
  note: (text) => run.note({ code: 'smoke-tests', text }),
  redact: (text) => run.redact(text),
});
