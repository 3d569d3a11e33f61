import type { Verdict } from '../../src/planning/verdict-types.ts';
import { conclude } from './conclude.ts';
import type { Intent } from './intent.ts';
import { keep, continued, type StepResult, type ReconcileContext } from './reconcile-context.ts';

/** Advances the smoke tests of a live revision, until they have to wait. */
export async function smokeStep(work: ReconcileContext, intent: Intent): Promise<StepResult> {
  const { smoke, agentAt } = work.context;
  const { agentUrl, terms } = intent;
  if (terms.smokeTests.length === 0) return conclude(work, { ...intent, verdict: { kind: 'none', tests: [] } });
  if (agentUrl === undefined) return judged(work, intent, withoutAddress(intent));
  const result = await smoke.advance(intent, agentAt(agentUrl), work.signal);
  if (result.kind === 'done') return judged(work, intent, result.verdict);
  await keep(work, [{ ...intent, smoke: result.state }]);
  // Continue here after storing: only this process has the unused tokens.
  return result.at <= work.context.clock.now() ? continued : { kind: 'requeue', until: result.at };
}

/** Stores the verdict before anything follows from it, so that the tests need not run again. */
async function judged(work: ReconcileContext, intent: Intent, verdict: Verdict): Promise<StepResult> {
  await keep(work, [{ ...intent, verdict }]);
  return continued;
}

const withoutAddress = ({ terms }: Intent): Verdict => ({
  kind: 'unproven',
  tests: terms.smokeTests.map(({ name }) => ({
    name,
    attempts: 0,
    verdict: { kind: 'unproven', because: 'no-address', why: 'the service returns no URL for the agent' },
  })),
});
