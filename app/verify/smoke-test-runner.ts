import type { ConversationServer } from '../../src/contract/agent/service.ts';
import type { SmokeTest } from '../../src/deploy/file/smoke-test.ts';
import type { Evidence, TestVerdict } from '../../src/deploy/rules/verdict-types.ts';
import { measuredAnswers } from '../../src/deploy/machine/measure-live.ts';
import { atHold } from '../../src/deploy/smoke/remove-resources.ts';
import { judgeHere, outOfTime, unjudged, type Judge } from '../../src/deploy/smoke/judge.ts';
import { endOfTests, nothingBefore, openMeasurement, openTest } from '../../src/deploy/smoke/open-test.ts';
import type { SmokeStepResult, SmokeTestRunner } from '../context.ts';
import { answeredBefore, testToMeasure, putAnswers } from '../reconcile/live-answers.ts';
import type { Testing } from '../reconcile/intent.ts';
import { createTests, type EndedTest } from './advance-test.ts';
import type { AttemptOptions } from './attempt.ts';
import { createConversationTester } from './conversations.ts';
import { secretsOf } from './deployment-secrets.ts';
import { readProgress, writeProgress, type Progress } from './progress.ts';

export interface SmokeTestRunnerOptions extends AttemptOptions {
  /** An agent's conversations, at its address. */
  threadsAt: (url: string) => ConversationServer;
  /** On this thread when absent. */
  judge?: Judge;
}

/**
 * Runs the smoke tests of a live or held revision, one after the other, and sends them to the live revision before a
 * change. Each call does one small step and returns the state to store before the next.
 */
export function createSmokeTestRunner({
  judge = judgeHere,
  threadsAt,
  ...options
}: SmokeTestRunnerOptions): SmokeTestRunner {
  const { clock, control, log } = options;
  const tryConversations = createConversationTester({ clock, control, threadsAt, judge, log });
  const tests = createTests({ ...options, judge });

  const advance: SmokeTestRunner['advance'] = async (intent, at, signal, keep, live): Promise<SmokeStepResult> => {
    signal.throwIfAborted();
    const progress = readProgress(intent.smoke);
    const written = intent.terms.smokeTests[progress.verdicts.length];
    const until = intent.hold ? endOfTests(intent.hold.endsAt) : Infinity;
    // A held revision and the live one have the same threads.
    const agent = intent.hold ? atHold(at, () => live) : at;
    if (!written)
      return tryConversations(intent, await tests.cleanUp({ intent, agent, signal }, progress), signal, keep);
    const { isMeasured, ...opened } = openTest(written, { live, before: answeredBefore(intent, written) });
    if (!isMeasured) return tests.waitUntil(withVerdict(progress, written, [], nothingBefore));
    const result = await tests.advance({ intent, ...opened, until, agent, live, signal, progress });
    return result.kind === 'ended' ? tests.waitUntil(await concluded(intent, opened.test, result, signal)) : result;
  };

  /** The progress after a test that needs no more attempts, or has no more time for them. */
  async function concluded(
    { deploymentId }: Testing,
    test: SmokeTest,
    { how, attempts, progress }: EndedTest,
    signal: AbortSignal,
  ): Promise<Progress> {
    if (how === 'unjudged') return withVerdict(progress, test, attempts, unjudged);
    if (attempts.length === 0) return withVerdict(progress, test, attempts, outOfTime);
    const known = await secretsOf(deploymentId, { control, clock, signal });
    const secrets = known?.map(({ value }) => value) ?? null;
    const isOutOfTime = how === 'out-of-time';
    const { verdict, compared } = await judge.conclude({ test, attempts, secrets, isOutOfTime });
    const after = withVerdict(progress, test, attempts, verdict);
    if (compared.length === 0) return after;
    return { ...after, compared: putAnswers(progress.compared, { test: test.name, samples: compared }) };
  }

  const measure: SmokeTestRunner['measure'] = async (intent, { test, former, until }, agent, signal) => {
    signal.throwIfAborted();
    const progress = readProgress(intent.smoke);
    const result = await tests.advance({ intent, ...openMeasurement(test, former), until, agent, signal, progress });
    if (result.kind === 'waiting') return result;
    const samples = result.how === 'unjudged' ? [] : measuredAnswers(test, result.kept);
    return { kind: 'measured', state: writeProgress({ ...result.progress, attempts: [] }), samples };
  };

  return {
    advance,
    measure,
    cleanUp: async (intent, agent, signal) => {
      await tests.cleanUp({ intent, agent, signal }, readProgress(intent.smoke), testToMeasure(intent)?.name);
    },
  };
}

const withVerdict = (
  progress: Progress,
  { name }: SmokeTest,
  attempts: readonly Evidence[],
  verdict: TestVerdict,
): Progress => ({
  ...progress,
  attempts: [],
  verdicts: [...progress.verdicts, { name, attempts: attempts.length, verdict }],
});
