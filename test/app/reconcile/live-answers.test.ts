import { expect, test } from 'vitest';
import type { TestAnswers } from '../../../src/deploy/machine/state.ts';
import { baselinesOf, putAnswers } from '../../../app/reconcile/live-answers.ts';
import { hashOfTest } from '../../../src/deploy/smoke/kept-baselines.ts';
import type { Sample } from '../../../src/deploy/rules/verdict-types.ts';
import { comparing } from './requests.ts';

const intent = { terms: comparing };
const secrets = [{ name: 'TOKEN', value: 'hunter22-hunter22' }];
const [greets] = comparing.smokeTests;
const answer = (...nodes: string[]): Sample => ({ answer: 'right', firstEventMs: undefined, totalMs: 9, nodes });
const kept = (samples: readonly Sample[], test = 'greets') =>
  baselinesOf(intent, 'r1', [{ test, samples, takenAt: 5 }], { secrets });

test('answers are kept by the hash of their test, without what only advises', () => {
  const advised: Sample = { ...answer('talk'), advice: [true], tokens: 7 };
  expect(kept([advised])).toEqual([
    {
      revisionId: 'r1',
      testHash: greets && hashOfTest(greets),
      takenAt: 5,
      answers: [
        { answer: 'right', first_event_ms: null, total_ms: 9, nodes: ['talk'], tools: [], tokens: 7, cost: null },
      ],
    },
  ]);
});

test.each([
  ['a node has a secret in its name', [answer('talk'), answer('say hunter22-hunter22')], 'greets'],
  ['a name can not be stored as it is', [answer('a\0b')], 'greets'],
  ['there are none', [], 'greets'],
  ['the test is unknown', [answer('talk')], 'another'],
])('no answers are kept where %s', (_, samples, name) => {
  expect(kept(samples, name)).toEqual([]);
});

test('answers of one intent are bounded: those of further tests are left out', () => {
  const samples = Array.from({ length: 2_000 }, () => answer('x'.repeat(200)));
  const all = ['one', 'two', 'three'].reduce<TestAnswers[]>(
    (some, name) => putAnswers(some, { test: name, samples }),
    [],
  );
  expect(all.map(({ test: name, samples: { length } }) => [name, length])).toEqual([
    ['one', 2_000],
    ['two', 2_000],
    ['three', 0],
  ]);
  expect(putAnswers(all, { test: 'one', samples: [] })).toHaveLength(3);
});
