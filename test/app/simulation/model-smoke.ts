import type { Measurement, MeasureStepResult, SmokeTestRunner, SmokeStepResult } from '../../../app/context.ts';
import type { IntentFields, Measuring, Testing } from '../../../app/reconcile/intent.ts';
import type { TestAnswers } from '../../../src/deploy/machine/state.ts';
import { answeredBefore, comparingTests } from '../../../app/reconcile/live-answers.ts';
import { answersBefore } from '../../../src/deploy/rules/against-live.ts';
import type { Sample, TestVerdict, Verdict } from '../../../src/deploy/rules/verdict-types.ts';
import type { Fate } from './model-git.ts';

type Soon<T> = T | Promise<T>;

/** What smoke tests see of the model, in this process or another one. */
export interface TestedModel {
  fateOf(deploymentId: string, heldAt?: string): Soon<Fate | undefined>;
  /** The id of the revision that serves. */
  serving(deploymentId: string): Soon<string | undefined>;
  openThread(id: string): Soon<void>;
  closeThread(id: string): Soon<void>;
  /** Records a test that compared what it must not compare. */
  mistook(what: string): Soon<void>;
}

/** A good commit passes, a wrong one fails, a flaky one is never proven. */
function verdictOn(fate: Fate | undefined): Verdict {
  const seen = { held: [], firstEventMs: 20, totalMs: 60 };
  const verdict: TestVerdict =
    fate === 'good' || fate === 'interrupted'
      ? { kind: 'passed', ...seen }
      : fate === 'wrong'
        ? { kind: 'failed', ...seen }
        : { kind: 'unproven', because: 'unreachable', why: 'no response' };
  return { kind: verdict.kind, tests: [{ name: 'greets', attempts: 1, verdict }] };
}

/** An answer says which revision gave it, and to which test. */
const answerOf = (revisionId: string, test: string): Sample => ({
  answer: 'right',
  firstEventMs: undefined,
  totalMs: 60,
  nodes: [revisionId, test],
});

/** The threads of the requests that are sent at once. */
const atOnce = (thread: string): string[] => [1, 2, 3].map((each) => `${thread} ${each}`);

/** Tests the revisions of the model: each step goes on from the state that was stored, in whichever process. */
export class ModelSmoke implements SmokeTestRunner {
  readonly #now: () => number;
  readonly #model: TestedModel;
  readonly #pauseMs: number;

  constructor(now: () => number, model: TestedModel, pauseMs = 2_000) {
    this.#now = now;
    this.#model = model;
    this.#pauseMs = pauseMs;
  }

  async advance(intent: Testing): Promise<SmokeStepResult> {
    const { terms, smoke, hold, deploymentId } = intent;
    if (terms.smokeTests.length === 0) return { kind: 'done', verdict: { kind: 'none', tests: [] } };
    if (!smoke) return { kind: 'waiting', state: { requested: 1 }, at: this.#now() + this.#pauseMs };
    const compared = hold ? [] : await this.compared(intent);
    return { kind: 'done', verdict: verdictOn(await this.#model.fateOf(deploymentId, hold?.address)), compared };
  }

  /** What the new revision answers to the tests that compare it; notes answers of another revision or test. */
  async compared(intent: Testing): Promise<TestAnswers[]> {
    const {
      how,
      former: { live: former },
      holdSeconds,
      revisionId,
      sending,
    } = intent;
    const found: TestAnswers[] = [];
    for (const test of comparingTests(intent)) {
      const samples = answeredBefore(intent, test);
      const isMeasured = how === 'triggered' && sending.kind === 'restate' && former && holdSeconds === undefined;
      if (!samples && isMeasured) await this.#model.mistook(`${revisionId} is tested without answers of ${former}`);
      const others = (samples ?? []).filter(({ nodes = [] }) => nodes[0] !== former || nodes[1] !== test.name);
      if (others.length > 0)
        await this.#model.mistook(`${revisionId} is compared with ${others[0]?.nodes?.join(' of ')}`);
      if (samples?.length) found.push({ test: test.name, samples: samples.map(() => answerOf(revisionId, test.name)) });
    }
    return found;
  }

  /** Has threads at the agent for a while, several at once. A live revision that does not answer has nothing measured. */
  async measure(
    { id, deploymentId, smoke = {} }: Measuring,
    { test, former, until }: Measurement,
  ): Promise<MeasureStepResult> {
    const thread = `${id} ${test.name}`;
    if (smoke['thread'] !== thread) return { kind: 'waiting', state: { thread }, at: this.#now() };
    if (!smoke['sent'] && this.#now() < until) {
      await Promise.all(atOnce(thread).map(async (each) => this.#model.openThread(each)));
      return { kind: 'waiting', state: { thread, sent: true }, at: this.#now() + this.#pauseMs };
    }
    await this.#close(thread);
    const serving = await this.#model.serving(deploymentId);
    const isSilent = (await this.#model.fateOf(deploymentId)) === 'flaky' || this.#now() >= until || !serving;
    const missing = answersBefore(test) - former.length;
    const samples = isSilent ? [] : [...former, ...Array.from({ length: missing }, () => answerOf(serving, test.name))];
    return { kind: 'measured', state: {}, samples };
  }

  async cleanUp({ smoke = {} }: IntentFields): Promise<void> {
    const { thread } = smoke;
    if (typeof thread === 'string') await this.#close(thread);
  }

  async #close(thread: string): Promise<void> {
    await Promise.all(atOnce(thread).map(async (each) => this.#model.closeThread(each)));
  }
}
