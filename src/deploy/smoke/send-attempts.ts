import type { Clock } from '../../kit/clock.ts';
import type { SmokeTest } from '../file/smoke-test.ts';
import type { AgentServer } from '../../contract/agent/service.ts';
import type { Graders } from '../../contract/grader.ts';
import { compactAttempts } from '../rules/series.ts';
import type { Evidence } from '../rules/verdict-types.ts';
import type { DeployRun } from '../machine/deploy-run.ts';
import type { Judge, JudgedAttempts } from './judge.ts';
import { gradeAnswer } from './grade-answer.ts';
import {
  beginTest,
  countAfter,
  dueAfter,
  runTurns,
  nextStep,
  tooLate,
  type TestCourse,
  withTimeLeft,
} from './next-step.ts';
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
  /** Judges the answers in another process; absent: here. */
  judge?: Judge | undefined;
  /** The secrets that are known, for that process. */
  secrets?: (() => readonly string[]) | undefined;
}

/** The attempts at a test. `isUnjudged`: judging them takes too much time or memory. */
export interface SentAttempts {
  attempts: readonly Evidence[];
  isOutOfTime: boolean;
  isUnjudged?: true;
}

/**
 * Sends the requests of a test, after `former` attempts, until it needs no more or its time is up. `seen` is called
 * with all attempts after each turn. Rejects only when the signal aborts.
 */
export async function sendAttempts(
  test: SmokeTest,
  former: readonly Evidence[],
  sending: Sending,
  seen?: (attempts: readonly Evidence[], again: boolean) => void,
): Promise<SentAttempts> {
  const { agent, live, graders, clock, random, signal, until = Infinity, note, judge } = sending;
  const { redact = (text: string) => text } = sending;
  const left = (what: string) => note?.(redact(`smoke test ${test.name} could not remove ${what}`));
  let course: TestCourse = beginTest(test, former);
  for (;;) {
    const now = clock.now();
    const step = nextStep(test, course, { now, until });
    if (step.kind === 'end') return { attempts: course.attempts, isOutOfTime: step.isOutOfTime };
    if (step.kind === 'wait') await clock.sleep(step.until - now, signal);
    if (step.kind !== 'send') continue;
    const answers = await runTurns(step.turns, async (receiver) => {
      // Those before it in its turn have taken some of the time.
      const leftMs = until - clock.now();
      if (leftMs <= 0) return tooLate;
      const asked = receiver === 'live' && live ? live : agent;
      const evidence = await sendTestRequest(withTimeLeft(test, leftMs), { agent: asked, clock, signal, left });
      return gradeAnswer(test, evidence, { graders, signal, redact });
    });
    const made = [...course.attempts, ...answers];
    const judged = judge ? await judge.nextAttempt({ test, attempts: made }) : judgedHere(test, made);
    if (judged.kind === 'unjudged') return { attempts: made, isOutOfTime: false, isUnjudged: true };
    const { count } = judged;
    // Another process keeps nothing of a test that needs no more, and concludes it from all that was made.
    const attempts = judge && count === 0 ? made : judged.kept;
    const notBefore = count === 0 ? 0 : dueAfter(test, attempts, { now: clock.now(), until, random });
    course = { attempts, count, notBefore };
    seen?.(attempts, count > 0);
  }
}

function judgedHere(test: SmokeTest, made: readonly Evidence[]): JudgedAttempts {
  const kept = compactAttempts(test, made);
  const count = countAfter(test, kept);
  return { kind: count > 0 ? 'again' : 'enough', count, kept };
}

/** The dependencies of a deploy run. */
export const sendingOf = (run: DeployRun): Omit<Sending, 'agent'> => ({
  graders: run.request.graders,
  clock: run.request.clock,
  random: run.request.random,
  signal: run.request.signal,
  note: (text) => run.note({ code: 'smoke-tests', text }),
  redact: (text) => run.redact(text),
  judge: run.request.judge,
  secrets: () => run.secrets(),
});
