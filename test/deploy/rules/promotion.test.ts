import { describe, expect, test } from 'vitest';
import { decidePromotion, type EarlierFacts } from '../../../src/deploy/rules/promotion.ts';
import { reportedPlan } from '../../../src/deploy/words/plan.ts';

const commit = 'a'.repeat(40);
const proven: EarlierFacts = {
  name: 'staging',
  matches: 1,
  live: { id: 'r1', commit },
  verdict: 'passed',
  requested: commit,
};

describe('a commit goes to the next environment', () => {
  test.each<[string, Partial<EarlierFacts>, object]>([
    ['that is live and proven in the one before', {}, { revisionId: 'r1', commit, isUnproven: false }],
    ['whichever that is, if none is requested', { requested: undefined }, { commit, isUnproven: false }],
    ['on the word of the caller, if the service keeps no verdicts', { verdict: 'unreported' }, { isUnproven: true }],
  ])('%s', (_, change, promotion) => expect(decidePromotion({ ...proven, ...change })).toMatchObject(promotion));

  test.each<[string, Partial<EarlierFacts>, string]>([
    ['there is no deployment before', { matches: 0, live: undefined }, 'earlier-missing'],
    ['several have its name', { matches: 2, live: undefined }, 'earlier-missing'],
    ['nothing is live there', { live: undefined }, 'earlier-not-live'],
    ['another commit is live there', { requested: 'b'.repeat(40) }, 'earlier-other-commit'],
    ['its commit is not reported', { live: { id: 'r1', commit: undefined } }, 'earlier-other-commit'],
    ['it failed its tests', { verdict: 'failed' }, 'earlier-unproven'],
    ['its tests proved nothing', { verdict: 'unproven' }, 'earlier-unproven'],
    ['it was not tested', { verdict: undefined }, 'earlier-unproven'],
    ['its verdict is of a kind that is not known', { verdict: 'splendid' }, 'earlier-unproven'],
  ])('is refused if %s, with what to do', (_, change, code) => {
    const obstacle = decidePromotion({ ...proven, ...change });
    if (!('code' in obstacle)) throw new Error('it was not refused');
    expect(obstacle.code).toBe(code);
    const plan = reportedPlan({ kind: 'impossible', obstacles: [obstacle] });
    expect(JSON.stringify(plan)).toMatch(/staging[^"]*"/);
  });
});
