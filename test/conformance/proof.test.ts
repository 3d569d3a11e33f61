import { describe, expect, test } from 'vitest';
import type { Claim } from './claims.ts';
import { judgeClaims, markClaims, sidesIn, tally, whyPartial } from './proof.ts';
import type { RanTest } from './proof.ts';

const fixed: Claim = {
  id: 'control.name.fixed',
  document: 'control-service',
  section: 'Deployment (response)',
  claim: 'A name stays.',
  scope: 'first',
  state: 'done',
  sides: ['in process', 'over HTTP'],
};
const answers: Claim = { ...fixed, id: 'control.create.answers', sides: undefined };
const open: Claim = { ...fixed, id: 'control.name.open', state: 'open', scope: 'later' };

const inProcess: RanTest = { path: ['in process', 'a name stays'], claims: ['control.name.fixed'], state: 'passed' };
const overHttp: RanTest = { path: ['over HTTP', 'a name stays'], claims: ['control.name.fixed'], state: 'passed' };

describe('what the tests of a whole run say about the claims that are marked done', () => {
  test.each<[string, readonly Claim[], readonly RanTest[], readonly string[]]>([
    ['a claim of both sides with a passing test on each is true', [fixed], [inProcess, overHttp], []],
    [
      'a claim of both sides without any test is untrue on each',
      [fixed],
      [],
      [
        'control.name.fixed is marked done, but has no passing test in process',
        'control.name.fixed is marked done, but has no passing test over HTTP',
      ],
    ],
    [
      'a claim proven on one side only is untrue on the other',
      [fixed],
      [inProcess],
      ['control.name.fixed is marked done, but has no passing test over HTTP'],
    ],
    [
      'a skipped test proves nothing',
      [fixed],
      [inProcess, { ...overHttp, state: 'skipped' }],
      ['control.name.fixed is marked done, but has no passing test over HTTP'],
    ],
    [
      'a failing test beside a passing one leaves the claim unproven',
      [fixed],
      [inProcess, overHttp, { ...overHttp, state: 'failed' }],
      ['control.name.fixed is marked done, but a test of it fails over HTTP'],
    ],
    [
      'a passing test that stands on no side proves nothing',
      [answers],
      [{ path: ['creation', 'with 201'], claims: ['control.create.answers'], state: 'passed' }],
      ['control.create.answers is marked done, but has no passing test over HTTP'],
    ],
    [
      'a claim that names no side is true by a test over HTTP',
      [answers],
      [{ path: ['over HTTP', 'with 201'], claims: ['control.create.answers'], state: 'passed' }],
      [],
    ],
    ['an open claim without a test is no problem', [open], [], []],
    [
      'an id in a title that is not in the list is named',
      [],
      [inProcess],
      ['control.name.fixed is no claim of the list, but a test names it: in process > a name stays'],
    ],
    [
      'a misspelt id is named, also when its test was skipped',
      [open],
      [{ path: ['a name'], claims: ['control.name_open'], state: 'skipped' }],
      ['control.name_open is no claim of the list, but a test names it: a name'],
    ],
    [
      'one title may prove several claims',
      [fixed, answers],
      [
        inProcess,
        { path: ['over HTTP', 'both'], claims: ['control.name.fixed', 'control.create.answers'], state: 'passed' },
      ],
      [],
    ],
    [
      'an id on a describe is carried by every test in it',
      [answers],
      [{ path: ['over HTTP', 'creation', 'answers 201'], claims: ['control.create.answers'], state: 'passed' }],
      [],
    ],
  ])('%s', (_, claims, tests, problems) => expect(judgeClaims(claims, tests).problems).toEqual(problems));
});

describe('which claims a run proves', () => {
  test('those with every side, whatever the list says now', () => {
    const passing = [inProcess, overHttp].map(({ path: [side = ''] }) => side);
    const tests = passing.map((side): RanTest => ({
      path: [side, 'a name'],
      claims: ['control.name.open'],
      state: 'passed',
    }));
    const { proven } = judgeClaims([open, fixed], tests);
    expect([...proven]).toEqual(['control.name.open']);
  });

  test('a claim proven on one side is reported with the side it misses', () => {
    expect(judgeClaims([{ ...fixed, state: 'open' }], [inProcess]).partly).toEqual(
      new Map([['control.name.fixed', ['over HTTP']]]),
    );
  });

  test('marking opens what is no longer proven and closes what is', () => {
    const marked = markClaims([fixed, open], new Set(['control.name.open']));
    expect(marked).toEqual([
      { ...fixed, state: 'open' },
      { ...open, state: 'done' },
    ]);
  });
});

test.each<[string, readonly string[], readonly string[]]>([
  ['a describe named as the side', ['in process', 'works'], ['in process']],
  ['a describe outside others', ['over HTTP', 'deployments', 'works'], ['over HTTP']],
  ['a describe with more in its title', ['deployments, over HTTP', 'works'], ['over HTTP']],
  ['a describe with the side in brackets', ['deployments (in process)', 'works'], ['in process']],
  ['a sentence that happens to hold the words', ['builds in process of their own', 'works'], []],
  ["the test's own title", ['over HTTP'], []],
])('the side a test stands on: %s', (_, path, sides) => expect(sidesIn(path)).toEqual(sides));

test('the tally counts all claims and those of the first part', () => {
  expect(tally([fixed, answers, { ...answers, state: 'open' }, open])).toBe(
    'claims: 2 done / 4 all (first part: 2 / 3)',
  );
});

const whole = { filtered: false, interrupted: false, existing: ['test/a.test.ts'], ran: ['test/a.test.ts'] };
test.each<[string, Parameters<typeof whyPartial>[0], string | undefined]>([
  ['every file, no filter', whole, undefined],
  ['a filter by name', { ...whole, filtered: true }, 'tests were filtered'],
  ['an interruption', { ...whole, interrupted: true }, 'the run was interrupted'],
  ['a file left out', { ...whole, existing: ['test/a.test.ts', 'test/b.test.ts'] }, '1 of 2 test files did not run'],
])('whether a run is the whole suite: %s', (_, run, why) => expect(whyPartial(run)).toBe(why));
