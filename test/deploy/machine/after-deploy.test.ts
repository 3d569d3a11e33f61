import { expect, test } from 'vitest';
import { afterDeploy, type EndedDeploy } from '../../../src/deploy/machine/after-deploy.ts';

const proven: EndedDeploy = { did: 'deploy', isLive: true, verdict: 'passed' };

test.each<[string, Partial<EndedDeploy>, ReturnType<typeof afterDeploy>]>([
  ['a live revision whose tests passed', {}, 'promote'],
  ['a live one without tests', { verdict: 'none' }, 'untested'],
  ['a live one of which no verdict is known', { verdict: undefined }, 'untested'],
  ['a live one whose tests proved nothing', { isLive: false, verdict: 'unproven' }, 'unproven'],
  ['a live one whose tests failed', { isLive: false, verdict: 'failed' }, 'not-live'],
  ['one that passed before traffic, and was replaced', { isLive: false }, 'not-live'],
  ['one that never got live', { isLive: false, verdict: undefined }, 'not-live'],
  ['a restored revision, even if its tests passed', { did: 'restore' }, 'restored'],
  ['tests of what serves, even if they passed', { did: 'test' }, 'only-tested'],
])('what follows from %s', (_, change, expected) => {
  expect(afterDeploy({ ...proven, ...change })).toBe(expected);
});
