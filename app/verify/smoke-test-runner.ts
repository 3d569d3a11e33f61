import { receiverOf } from '../../src/deploy/rules/against-live.ts';
import { isPauseDue } from '../../src/deploy/rules/series.ts';
import type { ConversationServer } from '../../src/contract/agent/service.ts';
import type { Evidence } from '../../src/deploy/rules/verdict-types.ts';
import { asEvidence } from '../../src/deploy/rules/compare.ts';
import { withTimeLeft } from '../../src/deploy/rules/patience.ts';
import { measuredAnswers } from '../../src/deploy/machine/measure-live.ts';
import { atHold } from '../../src/deploy/smoke/remove-resources.ts';
import { pauseBefore, tooLate } from '../../src/deploy/smoke/send-attempts.ts';
import { judgeHere, outOfTime, unjudged, type Judge } from '../../src/deploy/smoke/judge.ts';
import { endOfTests, nothingBefore, openTest } from '../../src/deploy/smoke/open-test.ts';
import type { MeasureStepResult, SmokeStepResult, SmokeTestRunner, SmokeWaiting } from '../context.ts';
import { answeredBefore, testToMeasure, putAnswers } from '../reconcile/live-answers.ts';
import type { Testing } from '../reconcile/intent.ts';
import { createAttempts, type AttemptOptions, type AttemptStep } from './attempt.ts';
import { createConversationTester } from './conversations.ts';
import { secretsOf } from './deployment-secrets.ts';
import { readProgress, writeProgress, type Progress } from './progress.ts';

export interface SmokeTestRunnerOptions extends AttemptOptions {
  /** An agent's conversations, at its address. */
  threadsAt: (url: string) => ConversationServer;
  /** On this thread when absent. */
  judge?: Judge;
}

/** One step of one intent's tests, and the answers of the live revision before the change. */
type Step = Omit<AttemptStep<SmokeWaiting>, 'after'> & { intent: Testing; former: readonly Evidence[] };

/**
 * Runs the smoke tests of a live or held revision, one after the other, and sends them to the live revision before a
 * change. Each call does one small step and returns the state to store before the next.
 */
export function createSmokeTestRunner({
  judge = judgeHere,
  threadsAt,
  ...options
}: SmokeTestRunnerOptions): SmokeTestRunner {
  const { clock, random, control, log } = options;
  const tryConversations = createConversationTester({ clock, control, threadsAt, judge, log });
  const { attempt, cleaned, abandoned, goOn } = createAttempts(options);

  const advance: SmokeTestRunner['advance'] = async (intent, at, signal, live): Promise<SmokeStepResult> => {
    signal.throwIfAborted();
    const before = readProgress(intent.smoke);
    const { smokeTests } = intent.terms;
    const written = smokeTests[before.verdicts.length];
    const leftMs = intent.hold ? endOfTests(intent.hold.endsAt) - clock.now() : Infinity;
    const open = written && openTest(written, { live, before: answeredBefore(intent, written) });
    const test = open && withTimeLeft(open.test, leftMs);
    const tested = intent.hold ? atHold(at, () => live) : at;
    // What is left over may be the other's: a held revision and the live one have the same threads.
    const agent = live && test && receiverOf(test, before.attempts.length) === 'live' ? live : tested;
    if (leftMs <= 0) {
      const left = await abandoned(intent, before, test?.name, { agent, signal });
      const isCut = before.under?.kind === 'started';
      const attempts = [...(open?.former ?? []), ...before.attempts, ...(isCut ? [tooLate] : [])];
      const progress =
        test && attempts.length > 0
          ? await concluded({ intent, test, signal, isOutOfTime: true }, attempts, left)
          : left;
      const unsent = smokeTests
        .slice(progress.verdicts.length)
        .map(({ name }) => ({ name, attempts: 0, verdict: outOfTime }));
      return tryConversations(intent, { ...progress, verdicts: [...progress.verdicts, ...unsent] }, signal);
    }
    const progress = await cleaned(intent, before, { agent, signal });
    if (!test || !open) return tryConversations(intent, progress, signal);
    if (!open.isMeasured) {
      const unproven = { name: test.name, attempts: 0, verdict: nothingBefore };
      return goOn({ ...progress, verdicts: [...progress.verdicts, unproven] });
    }
    const step = { intent, test, agent, signal, progress, former: open.former };
    return attempt({ ...step, after: (evidence, ended) => judged(step, evidence, ended) });
  };

  /** What follows from one attempt: another one after a pause, or the test's verdict. */
  async function judged(
    { intent, test, signal, former }: Step,
    evidence: Evidence,
    ended: Progress,
  ): Promise<SmokeWaiting> {
    const attempts = [...former, ...ended.attempts, evidence];
    const next = await judge.nextAttempt({ test, attempts });
    if (next.kind === 'again') {
      const pauseMs = isPauseDue(test, next.kept) ? pauseBefore(next.kept, random) : 0;
      // A provider may ask for more time than the tests have: what is left of a hold is for the decision.
      const until = intent.hold ? endOfTests(intent.hold.endsAt) : Infinity;
      const notBefore = Math.min(clock.now() + pauseMs, until);
      return goOn({ ...ended, attempts: next.kept.slice(former.length), notBefore });
    }
    if (next.kind === 'enough') return goOn(await concluded({ intent, test, signal }, attempts, ended));
    const { name } = test;
    return goOn({
      ...ended,
      attempts: [],
      verdicts: [...ended.verdicts, { name, attempts: attempts.length, verdict: unjudged }],
    });
  }

  /** The progress after a test that needs no more attempts, or has no more time for them. */
  async function concluded(
    { intent, test, signal, isOutOfTime }: Pick<Step, 'intent' | 'test' | 'signal'> & { isOutOfTime?: boolean },
    attempts: readonly Evidence[],
    ended: Progress,
  ): Promise<Progress> {
    const known = await secretsOf(intent.deploymentId, { control, clock, signal });
    const secrets = known?.map(({ value }) => value) ?? null;
    const { verdict, compared } = await judge.conclude({ test, attempts, secrets, isOutOfTime });
    const { name } = test;
    return {
      ...ended,
      attempts: [],
      verdicts: [...ended.verdicts, { name, attempts: attempts.length, verdict }],
      compared: compared.length > 0 ? putAnswers(ended.compared, { test: name, samples: compared }) : ended.compared,
    };
  }

  const measure: SmokeTestRunner['measure'] = async (intent, measurement, agent, signal) => {
    signal.throwIfAborted();
    const { test, former, until } = measurement;
    const before = readProgress(intent.smoke);
    const leftMs = until - clock.now();
    const known = former.map(asEvidence);
    if (leftMs <= 0) {
      const progress = await abandoned(intent, before, test.name, { agent, signal });
      return asMeasured([...known, ...progress.attempts], progress);
    }
    return attempt<MeasureStepResult>({
      intent,
      test: withTimeLeft(test, leftMs),
      agent,
      signal,
      progress: await cleaned(intent, before, { agent, signal }),
      after: async (evidence, ended) => {
        const next = await judge.measure({ test, attempts: [...known, ...ended.attempts, evidence] });
        if (next.kind === 'unjudged') return asMeasured([], ended);
        if (next.kind === 'enough') return asMeasured(next.kept, ended);
        const attempts = next.kept.slice(known.length);
        const pauseMs = attempts.at(-1)?.kind === 'unreachable' ? pauseBefore(attempts, random) : 0;
        return goOn({ ...ended, attempts, notBefore: Math.min(clock.now() + pauseMs, until) });
      },
    });

    function asMeasured(attempts: readonly Evidence[], progress: Progress): MeasureStepResult {
      const state = writeProgress({ ...progress, attempts: [] });
      return { kind: 'measured', state, samples: measuredAnswers(test, attempts) };
    }
  };

  return {
    advance,
    measure,
    cleanUp: async (intent, agent, signal) => {
      await abandoned(intent, readProgress(intent.smoke), testToMeasure(intent)?.name, { agent, signal });
    },
  };
}
