import type { SmokeDesk, Smoked } from '../../../app/world.ts';
import type { Intent } from '../../../app/work/intent.ts';
import type { Verdict } from '../../../src/decide/verdict-types.ts';
import type { Clock } from '../../../src/clock.ts';
import type { ModelControl } from './model-control.ts';

const verdictOf = (kind: 'passed' | 'failed' | 'unproven'): Verdict => ({
  kind,
  tests: [
    {
      name: 'greets',
      attempts: 1,
      verdict:
        kind === 'unproven'
          ? { kind, because: 'unreachable', why: 'nobody answered' }
          : { kind, held: [], firstEventMs: 20, totalMs: 60 },
    },
  ],
});

/**
 * Asks what serves in the model: a good commit passes, a wrong one fails, a flaky one is never proven. It takes two
 * looks, and goes on from the state that was stored.
 */
export class ModelSmoke implements SmokeDesk {
  readonly #clock: Clock;
  readonly #control: ModelControl;

  constructor(clock: Clock, control: ModelControl) {
    this.#clock = clock;
    this.#control = control;
  }

  async advance(intent: Intent): Promise<Smoked> {
    if (intent.terms.smokeTests.length === 0) return { kind: 'done', verdict: { kind: 'none', tests: [] } };
    if (!intent.smoke) return { kind: 'waiting', state: { asked: 1 }, at: this.#clock.now() + 2_000 };
    return { kind: 'done', verdict: verdictOf(this.#answer(intent.deploymentId)) };
  }

  #answer(deploymentId: string): 'passed' | 'failed' | 'unproven' {
    switch (this.#control.fateOfServing(deploymentId)) {
      case 'good':
      case 'interrupted':
        return 'passed';
      case 'wrong':
        return 'failed';
      default:
        return 'unproven';
    }
  }
}
