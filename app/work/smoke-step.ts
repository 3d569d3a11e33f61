import type { Verdict } from '../../src/decide/verdict-types.ts';
import { conclude } from './conclude.ts';
import type { Intent } from './intent.ts';
import { keep, moved, type Came, type Work } from './work.ts';

/** Brings the smoke tests of a live revision on, as far as they come by themselves. */
export async function smokeStep(work: Work, intent: Intent): Promise<Came> {
  const { smoke, agentAt } = work.world;
  const { agentUrl, terms } = intent;
  if (terms.smokeTests.length === 0) return conclude(work, { ...intent, verdict: { kind: 'none', tests: [] } });
  if (agentUrl === undefined) return judged(work, intent, withoutAddress(intent));
  const came = await smoke.advance(intent, agentAt(agentUrl), work.signal);
  if (came.kind === 'done') return judged(work, intent, came.verdict);
  await keep(work, [{ ...intent, smoke: came.state }]);
  // What was only to be stored is gone on with here: no other process has in hand what this one has.
  return came.at <= work.world.clock.now() ? moved : { kind: 'rest', until: came.at };
}

/** The verdict is stored before anything follows from it: nobody has to ask again. */
async function judged(work: Work, intent: Intent, verdict: Verdict): Promise<Came> {
  await keep(work, [{ ...intent, verdict }]);
  return moved;
}

const withoutAddress = ({ terms }: Intent): Verdict => ({
  kind: 'unproven',
  tests: terms.smokeTests.map(({ name }) => ({
    name,
    attempts: 0,
    verdict: { kind: 'unproven', because: 'no-address', why: 'the service tells no address of the agent' },
  })),
});
