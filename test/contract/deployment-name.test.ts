import { describe, expect, test } from 'vitest';
import { deploymentNameProblem, maxDeploymentNameLength } from '../../src/contract/control/field-values.ts';

describe('the name of a deployment', () => {
  test.each(['a', 'my-agent-2', 'a'.repeat(maxDeploymentNameLength)])('%s is taken', (name) =>
    expect(deploymentNameProblem(name)).toBeUndefined(),
  );

  test.each([
    ['My agent', 'may hold lower-case letters, digits and hyphens only'],
    ['my_agent', 'may hold lower-case letters, digits and hyphens only'],
    ['-agent', 'may not begin or end with a hyphen'],
    ['agent-', 'may not begin or end with a hyphen'],
    ['a'.repeat(64), 'may have at most 63 characters; this one has 64'],
  ])('%s is refused with the rule', (name, problem) => expect(deploymentNameProblem(name)).toBe(problem));

  test('a service may take shorter ones only', () =>
    expect(deploymentNameProblem('a'.repeat(22), 21)).toBe('may have at most 21 characters; this one has 22'));
});
