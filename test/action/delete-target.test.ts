import { describe, expect, test } from 'vitest';
import { namedBy } from '../../src/deploy/file/desired.ts';
import { readRequest } from '../../src/host/read-request.ts';

const inputs = { mode: 'delete', 'base-url': 'https://host', 'api-key': 'k' };
const one = 'name: support\ndeployment-id: 11111111-1111-4111-8111-111111111111\n';
const two = 'deployments:\n  production: {}\n  staging: {}\n';

const target = (given: Record<string, string>, text: string, isPullRequest: boolean) => {
  const file = { text, path: '.github/landfall.yml' };
  const read = readRequest({ inputs: { ...inputs, ...given }, file }, { isPullRequest });
  if (!read.ok) return read.problems.map(({ field }) => field);
  const { name, deploymentId } = namedBy(read.subject);
  return { name, deploymentId };
};

describe('what a deletion is of', () => {
  test.each([
    ['the name, whatever the file has', { name: 'support-pr-12' }, two],
    ['the name, without the id of the entry', { name: 'support-pr-12' }, one],
    ['the name, where the file cannot be read', { name: 'support-pr-12' }, '{'],
  ])('%s', (_, given, text) => {
    for (const isPullRequest of [true, false]) {
      expect(target(given, text, isPullRequest)).toEqual({ name: 'support-pr-12', deploymentId: undefined });
    }
  });

  test('never an entry of the file alone on a pull request', () => {
    expect(target({}, one, true)).toEqual(['name']);
    expect(target({}, one, false)).toMatchObject({ name: 'support' });
    expect(target({ deployment: 'staging' }, two, true)).toMatchObject({ name: 'staging' });
  });
});
