import type { AgentServer } from '../../src/contract/agent/service.ts';
import type { SmokeTest } from '../../src/deploy/file/smoke-test.ts';
import type { Evidence } from '../../src/deploy/rules/verdict-types.ts';
import type { Judge } from '../../src/deploy/smoke/judge.ts';
import {
  beginTest,
  dueAfter,
  runTurns,
  nextStep,
  tooLate,
  type TestStep,
  withTimeLeft,
} from '../../src/deploy/smoke/next-step.ts';
import type { SmokeWaiting } from '../context.ts';
import { createAttempts, dueAgain, type AttemptPlace, type AttemptOptions, type AttemptStep } from './attempt.ts';
import {
  maxLost,
  tokensOf,
  writeProgress,
  type AttemptResources,
  type Progress,
  type CurrentAttempt,
} from './progress.ts';

type Turns = Extract<TestStep, { turns: unknown }>['turns'];

/** A test of one intent between two steps, and all that the next one needs. */
export interface TestRun extends AttemptPlace {
  test: SmokeTest;
  /** The answers of the live revision before the change, which are stored elsewhere. */
  former: readonly Evidence[];
  /** When the tests must have come to an end (ms since the epoch). */
  until: number;
  /** The agent that serves; the tested one has the same threads. */
  live?: AgentServer | undefined;
  progress: Progress;
}

/** A test that has ended: all attempts, as they came and as they would be stored, and the progress after it. */
export interface EndedTest {
  kind: 'ended';
  how: 'enough' | 'out-of-time' | 'unjudged';
  attempts: readonly Evidence[];
  kept: readonly Evidence[];
  progress: Progress;
}

/** Takes the steps of tests, by the rules of every host, over states that are stored. */
export function createTests({ judge, ...options }: AttemptOptions & { judge: Judge }) {
  const { clock, random } = options;
  const { prepare, isLost, step, removeLeftovers } = createAttempts(options);

  const waitUntil = (progress: Progress, at = clock.now()): SmokeWaiting => ({
    kind: 'waiting',
    state: writeProgress(progress),
    at,
  });

  /** The progress without what earlier attempts made, or what is under way where no step of this test follows. */
  const cleanUp = (at: AttemptPlace, progress: Progress, test = '(ended)'): Promise<Progress> =>
    removeLeftovers(at, withoutCurrent(progress, test));

  /** Performs one step of a test. */
  async function advance(run: TestRun): Promise<SmokeWaiting | EndedTest> {
    const { test, former, until, progress } = run;
    const { currentAttempts, attempts } = progress;
    const begun = beginTest(test, former);
    const course = attempts.length === 0 ? begun : { ...progress, attempts: [...former, ...attempts] };
    const next = nextStep(test, { ...course, underWay: currentAttempts.length }, { now: clock.now(), until });
    if (next.kind === 'end') {
      const left = await cleanUp(run, progress, test.name);
      const all = [...course.attempts, ...currentAttempts.flatMap(cutShort)];
      return { kind: 'ended', how: 'out-of-time', attempts: all, kept: all, progress: left };
    }
    const ready = { ...run, progress: await removeLeftovers(run, progress) };
    if (next.kind === 'follow') return follow(ready, next.turns);
    if (next.kind === 'wait') return waitUntil(ready.progress, next.until);
    // One attempt may have ended the process: it is sent alone.
    const turns = progress.lost > 0 ? next.turns.slice(0, 1).map((turn) => turn.slice(0, 1)) : next.turns;
    return waitUntil({ ...ready.progress, currentAttempts: turns.flat().map(() => prepare(test, progress)) });
  }

  /** Takes a step of every attempt that is under way. */
  async function follow(run: TestRun, receivers: Turns): Promise<SmokeWaiting | EndedTest> {
    const { test, until, live, progress } = run;
    const { currentAttempts, lost } = progress;
    if (currentAttempts.some(isLost) && lost < maxLost) {
      return waitUntil({ ...withoutCurrent(progress, test.name), lost: lost + 1 });
    }
    const isNotified =
      currentAttempts.some(({ kind }) => kind === 'started') && clock.now() < nextLook(currentAttempts);
    const undealt = [...currentAttempts];
    const turns = receivers.map((turn) =>
      undealt.splice(0, turn.length).map((attempt, index) => ({ attempt, receiver: turn[index] })),
    );
    const followed = await runTurns(turns, async ({ attempt, receiver }): Promise<AttemptStep> => {
      const leftMs = until - clock.now();
      // Those before it in its turn have taken the time.
      if (attempt.kind === 'prepared' && leftMs <= 0) return { attempt: { kind: 'answered', evidence: tooLate } };
      const agent = receiver === 'live' && live ? live : run.agent;
      return step({ ...run, test: withTimeLeft(test, leftMs), agent }, attempt, isNotified);
    });
    const ended = currentAttempts.filter(
      (each, at) => each.kind !== 'answered' && followed[at]?.attempt.kind === 'answered',
    );
    // The run that was reported does not show its end yet.
    const isUnexplained = isNotified && ended.length === 0;
    const now = clock.now();
    const after = followed.map(({ attempt }) =>
      attempt.kind === 'started'
        ? dueAgain({ ...attempt, reported: attempt.reported || isUnexplained }, now, currentAttempts.length)
        : attempt,
    );
    return judgeNewAnswers(run, {
      ...progress,
      currentAttempts: after,
      lost: 0,
      withoutWebhook: progress.withoutWebhook || followed.some(({ withoutWebhook }) => withoutWebhook),
      leftovers: followed.flatMap(({ made }) => made ?? []),
      spent: [...progress.spent, ...tokensOf(ended)],
    });
  }

  /** What follows the answers so far: more of them, another attempt after a pause, or the end of the test. */
  async function judgeNewAnswers(run: TestRun, progress: Progress): Promise<SmokeWaiting | EndedTest> {
    const { test, former, until } = run;
    const { currentAttempts } = progress;
    const answers = answersOf(currentAttempts);
    const isWhole = answers.length === currentAttempts.length;
    const at = isWhole ? clock.now() : nextLook(currentAttempts);
    if (answers.length === answersOf(run.progress.currentAttempts).length) return waitUntil(progress, at);
    const made = [...former, ...progress.attempts];
    const judged = await judgeEach(test, made, answers);
    if (!judged || (!isWhole && judged.kept.length < judged.attempts.length)) {
      const attempts = [...made, ...answers];
      return { kind: 'ended', how: 'unjudged', attempts, kept: [], progress: withoutCurrent(progress, test.name) };
    }
    const ended = { ...progress, currentAttempts: [] };
    if (isWhole && judged.count === 0) return { kind: 'ended', how: 'enough', ...judged, progress: ended };
    const kept = judged.kept.slice(former.length);
    if (isWhole) {
      const notBefore = dueAfter(test, judged.kept, { now: at, until, random });
      return waitUntil({ ...ended, attempts: kept, count: judged.count, notBefore });
    }
    const keptAnswers = kept.splice(progress.attempts.length);
    const keptAttempts = currentAttempts.map((each) =>
      each.kind === 'answered' ? { ...each, evidence: keptAnswers.shift() ?? each.evidence } : each,
    );
    return waitUntil({ ...progress, attempts: kept, currentAttempts: keptAttempts }, at);
  }

  /** Judges one answer after the other, as together they may be too large. Undefined where one could not be judged. */
  async function judgeEach(
    test: SmokeTest,
    made: readonly Evidence[],
    answers: readonly Evidence[],
  ): Promise<(Pick<EndedTest, 'attempts' | 'kept'> & { count: number }) | undefined> {
    let [attempts, kept, count] = [made, made, 0];
    for (const answer of answers) {
      if (kept.length < attempts.length) return undefined;
      attempts = [...kept, answer];
      const judged = await judge.nextAttempt({ test, attempts });
      if (judged.kind === 'unjudged') return undefined;
      ({ kept, count } = judged);
    }
    return { attempts, kept, count };
  }

  return { advance, cleanUp, waitUntil };
}

const answersOf = (currentAttempts: readonly CurrentAttempt[]): Evidence[] =>
  currentAttempts.flatMap((each) => (each.kind === 'answered' ? [each.evidence] : []));

/** When the first of them is polled (ms since the epoch). */
const nextLook = (currentAttempts: readonly CurrentAttempt[]): number =>
  Math.min(...currentAttempts.flatMap((each) => (each.kind === 'started' ? [each.lookAt] : [])));

/** What is known of an attempt that the time of the tests cuts short; nothing of one that was not sent. */
const cutShort = (attempt: CurrentAttempt): Evidence[] =>
  attempt.kind === 'prepared' ? [] : [attempt.kind === 'answered' ? attempt.evidence : tooLate];

/** The progress without the attempts that are under way: what they made is to be removed. */
function withoutCurrent({ currentAttempts, spent, leftovers, ...progress }: Progress, test: string): Progress {
  const open = currentAttempts.flatMap((each): AttemptResources[] => {
    if (each.kind === 'answered') return [];
    const { threadId, assistantId } = each;
    return [{ test, threadId, assistantId, ...(each.kind === 'started' ? { runId: each.runId } : {}) }];
  });
  return {
    ...progress,
    currentAttempts: [],
    spent: [...spent, ...tokensOf(currentAttempts)],
    leftovers: [...leftovers, ...open],
  };
}
