import { expect, test } from 'vitest';
import { ServiceError, type ServiceErrorDetails } from '../../src/contract/service-error.ts';
import { inWords } from '../../src/report/duration.ts';
import { explain } from '../../src/report/explain.ts';

const failure = (details: Partial<ServiceErrorDetails>): ServiceError =>
  new ServiceError({
    kind: 'rejected',
    operation: 'get deployment',
    method: 'GET',
    address: 'https://host/v2/deployments/d1',
    effect: 'none',
    ...details,
  });

test.each([
  ['an unknown key points to api-key', { kind: 'unauthorized', status: 401 }, /api-key/],
  ['a forbidden key points to tenant-id', { kind: 'unauthorized', status: 403 }, /tenant-id/],
  ['a missing deployment points to deployment-id', { kind: 'missing', status: 404 }, /deployment-id/],
  ['a name in use asks for another', { kind: 'conflict', status: 409 }, /another name/],
  ['a busy service tells when to come back', { kind: 'busy', status: 429, retryAfterMs: 90_000 }, /1 min 30 s/],
  ['no answer points to base-url and the proxy', { kind: 'unreachable' }, /base-url.*HTTPS_PROXY/],
  ['a lost answer to a write asks to look first', { kind: 'unreachable', effect: 'unknown' }, /Look at the deployment/],
  ['another kind of server points to base-url', { kind: 'unreadable' }, /base-url/],
  [
    'named fields are to be corrected',
    { kind: 'rejected', status: 422, problems: [{ loc: ['body', 'name'], msg: 'required', type: 'missing' }] },
    /fields/,
  ],
] as const)('%s', (_, details, advice) => {
  const { reason, advice: told } = explain(
    failure({
      ...details,
      problems: 'problems' in details ? details.problems.map((each) => ({ ...each, loc: [...each.loc] })) : [],
    }),
  );
  expect(told).toMatch(advice);
  expect(reason).toContain('get deployment');
});

test.each([
  [340, '340 ms'],
  [2400, '2.4 s'],
  [41_000, '41 s'],
  [185_000, '3 min 5 s'],
  [180_000, '3 min'],
])('%d ms are %s', (ms, words) => expect(inWords(ms)).toBe(words));
