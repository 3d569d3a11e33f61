import { expect, test } from 'vitest';
import { sources } from '../../../../src/contract/control/source.ts';
import {
  hostingProblem,
  hostings,
  nameProblem,
} from '../../../../src/services/control/deployments/validation/value-problems.ts';

test('offers every source except github self-hosted and external_docker in the cloud', () => {
  const refused = hostings.flatMap((hosting) =>
    sources.filter((source) => hostingProblem(source, hosting)).map((source) => `${source} with ${hosting}`),
  );
  expect(refused).toEqual(['external_docker with cloud', 'github with self-hosted']);
  expect(hostingProblem('external_docker', 'cloud')).toBe(
    'source external_docker is only available for self-hosted deployments, and this service was started with --hosting cloud.',
  );
});

test.each([
  ['any', 63],
  ['cloud', 63],
  ['self-hosted', 21],
] as const)('with the hosting %s a name may have %i characters', (hosting, longest) => {
  expect(nameProblem('a'.repeat(longest), hosting)).toBeUndefined();
  expect(nameProblem('a'.repeat(longest + 1), hosting)).toBe(
    `name may have at most ${longest} characters; this one has ${longest + 1}.`,
  );
});
