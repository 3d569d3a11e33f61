import { expect, test } from 'vitest';
import {
  decideAfterChecks,
  type ChecksDecision,
  type RequiredCheck,
  type SeenCheck,
} from '../../../src/deploy/rules/after-checks.ts';
import { decisionWords } from '../../../src/deploy/words/decision.ts';

const build: RequiredCheck = { name: 'build' };
const lint: RequiredCheck = { name: 'lint' };
const check = (name: string, state: SeenCheck['state'], appId?: number): SeenCheck => ({
  name,
  state,
  ...(appId === undefined ? {} : { appId }),
});
const names = (...listed: string[]) => ({ names: listed, count: listed.length });
const awaits = (...listed: string[]): ChecksDecision => ({ kind: 'await', code: 'checks', pending: names(...listed) });
const failed = (...listed: string[]): ChecksDecision => ({
  kind: 'skip',
  code: 'checks-failed',
  failed: names(...listed),
});
const late = (...listed: string[]): ChecksDecision => ({
  kind: 'skip',
  code: 'checks-late',
  pending: names(...listed),
});
const pass: ChecksDecision = { kind: 'pass' };

test.each<[what: string, required: RequiredCheck[], seen: SeenCheck[], inTime: ChecksDecision, late: ChecksDecision]>([
  ['all have passed', [build, lint], [check('build', 'passed'), check('lint', 'passed')], pass, pass],
  ['none is there yet', [build, lint], [], awaits('build', 'lint'), late('build', 'lint')],
  ['one is there and passed', [build, lint], [check('lint', 'passed')], awaits('build'), late('build')],
  ['one runs', [build], [check('build', 'pending')], awaits('build'), late('build')],
  ['one failed', [build], [check('build', 'failed')], failed('build'), failed('build')],
  ['one failed, another runs', [build, lint], [check('lint', 'failed')], failed('lint'), failed('lint')],
  [
    'others failed or run',
    [build],
    [check('build', 'passed'), check('x', 'failed'), check('y', 'pending')],
    pass,
    pass,
  ],
  [
    'a check and a status of one name differ',
    [build],
    [check('build', 'passed', 7), check('build', 'failed')],
    failed('build'),
    failed('build'),
  ],
  [
    'it passed by another App',
    [{ name: 'build', appId: 7 }],
    [check('build', 'passed', 8)],
    awaits('build'),
    late('build'),
  ],
  [
    'it failed by another App',
    [{ name: 'build', appId: 7 }],
    [check('build', 'passed', 7), check('build', 'failed', 8)],
    pass,
    pass,
  ],
  [
    'a status passed, which any App may have made',
    [{ name: 'build', appId: 7 }],
    [check('build', 'passed')],
    awaits('build'),
    late('build'),
  ],
  [
    'a status failed, which any App may have made',
    [{ name: 'build', appId: 7 }],
    [check('build', 'passed', 7), check('build', 'failed')],
    failed('build'),
    failed('build'),
  ],
  [
    'a status runs beside the check that passed',
    [{ name: 'build', appId: 7 }],
    [check('build', 'passed', 7), check('build', 'pending')],
    awaits('build'),
    late('build'),
  ],
  [
    'two Apps are required',
    [
      { name: 'build', appId: 7 },
      { name: 'build', appId: 8 },
    ],
    [check('build', 'passed', 7)],
    awaits('build'),
    late('build'),
  ],
  ['a name differs in case', [build], [check('Build', 'passed')], awaits('build'), late('build')],
  [
    'nothing is required',
    [],
    [check('build', 'passed')],
    { kind: 'skip', code: 'no-checks' },
    { kind: 'skip', code: 'no-checks' },
  ],
])('decides where %s', (_, required, seen, inTime, tooLate) => {
  expect(decideAfterChecks({ required, seen, isLate: false })).toEqual(inTime);
  expect(decideAfterChecks({ required, seen, isLate: true })).toEqual(tooLate);
});

test('keeps a few names, and says how many more there are', () => {
  const required = Array.from({ length: 40 }, (_, at) => ({ name: `${at} ${'x'.repeat(200)}` }));
  const decision = decideAfterChecks({ required, seen: [], isLate: false });
  expect(JSON.stringify(decision).length).toBeLessThan(500);
  expect(decision).toMatchObject({ kind: 'await', pending: { count: 40, names: { length: 5 } } });
});

test.each<[decision: ChecksDecision, words: string]>([
  [awaits('build'), 'the check build has not passed yet'],
  [awaits('build', 'lint'), 'the checks build, lint have not passed yet'],
  [failed('build'), 'the check build has failed; once it passes, press Re-run, or Redeploy to deploy it all the same'],
  [late('build'), 'the check build has not passed in time; once it passes, press Re-run'],
])('says what is waited for, and what to do', (decision, words) => {
  expect(decision.kind === 'pass' ? '' : decisionWords(decision)).toBe(words);
});
