import { expect, test } from 'vitest';
import { deploymentState } from '../../../../src/services/control/deployments/summaries.ts';

test.each([
  ['none', 'DEPLOYED', true, 'live'],
  ['none', 'SKIPPED', true, 'live'],
  ['none', 'INTERRUPTED', true, 'live'],
  ['none', 'INTERRUPTED', false, 'not-deployed'],
  ['none', null, false, 'not-deployed'],
  ['none', 'CREATING', false, 'deploying'],
  ['none', 'QUEUED', true, 'deploying'],
  ['none', 'DEPLOYING', true, 'deploying'],
  ['none', 'BUILD_FAILED', true, 'failed'],
  ['none', 'DEPLOY_FAILED', false, 'failed'],
  ['asked', 'DEPLOYED', true, 'deleting'],
  ['stopped', 'BUILD_FAILED', false, 'deleting'],
] as const)('deletion %s, latest %s, live %s: %s', (deletion, latest, isLive, state) => {
  expect(deploymentState({ deletion, latest, isLive, isWithoutSource: false })).toBe(state);
});

test('a deployment has no source until something is uploaded, unless it is deleted', () => {
  const facts = { deletion: 'none', latest: 'CREATING', isLive: false, isWithoutSource: true } as const;
  expect(deploymentState(facts)).toBe('no-source');
  expect(deploymentState({ ...facts, isLive: true })).toBe('deploying');
  expect(deploymentState({ ...facts, deletion: 'asked' })).toBe('deleting');
});
