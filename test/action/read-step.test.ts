import { describe, expect, test } from 'vitest';
import { readStep } from '../../src/action/read-step.ts';

const env = { GITHUB_WORKFLOW: 'ci', GITHUB_JOB: 'deploy', GITHUB_ACTION: 'landfall' };
const run = { workflow: undefined, isPullRequest: false, withoutSecrets: false, isDependabot: false, isClosed: false };

describe('the step that a comment is of', () => {
  test.each([
    ['its workflow, job and step', {}, 'ci/deploy/landfall'],
    ['the deploy file that is always read', { config: '.github/landfall.yml' }, 'ci/deploy/landfall'],
    ['a deploy file of a leg of a matrix', { config: 'a/landfall.yml' }, 'ci/deploy/landfall/a/landfall.yml'],
    ['an environment of a leg', { environment: ' staging ' }, 'ci/deploy/landfall/staging'],
  ])('is told by %s', (_, inputs: Record<string, string>, step) => {
    expect(readStep((name) => inputs[name] ?? '', run, env).step).toBe(step);
  });
});
