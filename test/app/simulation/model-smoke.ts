import type { SmokeTestRunner, SmokeStepResult } from '../../../app/context.ts';
import type { Intent } from '../../../app/reconcile/intent.ts';
import type { TestVerdict, Verdict } from '../../../src/planning/verdict-types.ts';
import type { ModelControl } from './model-control.ts';
import type { Fate } from './model-git.ts';
import type { Timer } from './timer.ts';

/** One look of a smoke test that takes two: it goes on from the state that was stored, in whichever process. */
export async function smokeLook(
  { smoke, terms, hold }: Intent,
  nextAt: number,
  fateOf: (heldAt: string | undefined) => Promise<Fate | undefined>,
): Promise<SmokeStepResult> {
  if (terms.smokeTests.length === 0) return { kind: 'done', verdict: { kind: 'none', tests: [] } };
  if (!smoke) return { kind: 'waiting', state: { requested: 1 }, at: nextAt };
  return { kind: 'done', verdict: verdictOn(await fateOf(hold?.address)) };
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

/** Tests the live revision of the model. */
export class ModelSmoke implements SmokeTestRunner {
  readonly #clock: Timer;
  readonly #control: ModelControl;

  constructor(clock: Timer, control: ModelControl) {
    this.#clock = clock;
    this.#control = control;
  }

  async advance(intent: Intent): Promise<SmokeStepResult> {
    const nextAt = this.#clock.now() + 2_000;
    return smokeLook(intent, nextAt, async (heldAt) => this.#control.fateOf(intent.deploymentId, heldAt));
  }
}
