import { describe, expect, test } from 'vitest';
import type { Intent } from '../../../app/work/intent.ts';
import { nextStep, runningOf } from '../../../app/work/next-step.ts';
import { sortedWishes } from '../../../app/work/sorted-wishes.ts';
import type { Lane } from '../../../app/work/store.ts';
import { anIntent } from './an-intent.ts';
import { commitOf, start } from './wishes.ts';

const [a, b] = [commitOf('a'), commitOf('b')];
const free: Lane = { deploymentId: 'deployment-1' };
const held: Lane = { ...free, held: { since: start, why: 'it was rolled back' } };
const back = { kind: 'redeploy', revisionId: 'r1' } as const;

const wished = anIntent(b);
const waiting = anIntent(b, { state: 'waiting' });
const heldBack = anIntent(b, { state: 'held' });
const sending = anIntent(a, { state: 'sending' });
const expecting = anIntent(a, { state: 'expecting' });
const following = anIntent(a, { state: 'following' });
const smoking = anIntent(a, { state: 'smoking' });
const judged = anIntent(a, { state: 'smoking', verdict: { kind: 'passed', tests: [] } });
const broken = anIntent(a, { id: 'broken', state: 'smoking', verdict: { kind: 'failed', tests: [] } });
const undoing = {
  ...anIntent(a, { kind: 'failure', sending: back }),
  id: 'undoing',
  cause: { kind: 'failure', key: 'broken', at: start },
} as const;
const pressed = anIntent(a, { id: 'pressed', kind: 'rollback', sending: back });

const inWords = (step: ReturnType<typeof nextStep>): string => {
  if (step.kind === 'rest') return step.until === undefined ? 'rest' : `rest ${step.until} ms`;
  if (step.kind === 'wishes') return step.busyWith ? `wishes beside ${step.busyWith.id}` : 'wishes';
  return `${step.kind} ${step.intent.id}`;
};

type Case = [string, string, readonly Intent[], Lane?, [string, number][]?];

const cases: Case[] = [
  ['nothing is open: nothing is to be done', 'rest', []],
  ['a push is decided where the lane is free', 'wishes', [wished]],
  ['a request that may have gone out comes before every wish', 'settle sending', [wished, sending]],
  ['a revision is followed before wishes are sorted', 'follow following', [following, wished]],
  [
    'while it needs no look, new wishes are sorted beside it',
    'wishes beside following',
    [following, wished],
    free,
    [['following', 5]],
  ],
  [
    'wishes that wait already need nothing while another is built',
    'rest 5 ms',
    [following, waiting],
    free,
    [['following', 5]],
  ],
  ['what waits is taken up when the lane is free', 'wishes', [waiting]],
  ['a live revision is asked', 'smoke smoking', [smoking, waiting]],
  ['and concluded once the answers are judged', 'conclude smoking', [judged, waiting]],
  ['a wrong answer is concluded', 'conclude broken', [broken]],
  ['its rollback is decided before every push', 'go-back undoing', [broken, waiting, undoing]],
  ['pushes that come meanwhile are only sorted', 'wishes beside broken', [broken, undoing, wished]],
  [
    'and do not begin while the rollback is on its way',
    'follow undoing',
    [broken, { ...undoing, state: 'following' }, waiting],
  ],
  ['nor while it has to wait', 'rest 9 ms', [broken, undoing, waiting], free, [['undoing', 9]]],
  ['a rollback that a person asked for comes before pushes that wait', 'go-back pressed', [waiting, pressed]],
  ['but not before what is under way', 'follow following', [following, pressed]],
  ['a push that is held needs nothing while the lane is', 'rest', [heldBack], held],
  ['and is taken up when it is held no more', 'wishes', [heldBack], free],
  ['a revision that the service is to make is looked for', 'expect expecting', [expecting]],
  ['a newer push comes before it', 'wishes', [expecting, wished]],
  [
    'what rests is looked at when the first of it is due',
    'rest 3 ms',
    [expecting, waiting],
    free,
    [
      ['wishes', 7],
      ['expecting', 3],
    ],
  ],
  ["the rest of what has ended is nobody's", 'rest', [], free, [['gone', 4]]],
];

test.each(cases)('%s', (_, expected, open, lane = free, resting = []) => {
  expect(inWords(nextStep(lane, open, new Map(resting)))).toBe(expected);
});

test('a live revision that is being taken back is not what the deployment is busy with', () => {
  expect(runningOf([broken])).toBe(broken);
  expect(runningOf([broken, undoing])).toBeUndefined();
});

describe('sorted by the head', () => {
  const rerun = anIntent(b, { id: 'rerun', kind: 'rerun' });
  const redeploy = anIntent(b, { id: 'redeploy', kind: 'redeploy' });
  const old = anIntent(a, { id: 'old' });
  const told = (open: readonly Intent[], busyWith?: Intent) => {
    const { stale, joined, first, lacksHead } = sortedWishes(open, b, busyWith);
    return {
      stale: stale.map(({ id }) => id),
      joined: joined.map(({ intent, to }) => `${intent.id} to ${to.id}`),
      first: first?.id,
      lacksHead,
    };
  };

  test.each([
    [
      'of several pushes of the head the first counts',
      [wished, waiting],
      undefined,
      { stale: [], joined: ['waiting to wished'], first: 'wished', lacksHead: false },
    ],
    [
      'a Re-run of it counts before pushes',
      [wished, rerun],
      undefined,
      { stale: [], joined: ['wished to rerun'], first: 'rerun', lacksHead: false },
    ],
    [
      'a Redeploy counts before all',
      [rerun, redeploy],
      undefined,
      { stale: [], joined: ['rerun to redeploy'], first: 'redeploy', lacksHead: false },
    ],
    [
      'other commits are stale, and the head needs a wish',
      [old],
      undefined,
      { stale: ['old'], joined: [], first: undefined, lacksHead: true },
    ],
    [
      'what was sent is not sorted, nor what goes back',
      [following, pressed],
      undefined,
      { stale: [], joined: [], first: undefined, lacksHead: false },
    ],
    [
      'a wish for the commit that is being built is told with it',
      [wished],
      { ...following, commit: b },
      { stale: [], joined: ['wished to following'], first: undefined, lacksHead: false },
    ],
    [
      'but not where another commit turned out to be built',
      [wished],
      { ...following, commit: b, builtCommit: a },
      { stale: [], joined: [], first: 'wished', lacksHead: false },
    ],
    [
      'nor where that is a way back',
      [wished],
      { ...following, commit: b, sending: back },
      { stale: [], joined: [], first: 'wished', lacksHead: false },
    ],
  ])('%s', (_, open, busyWith, expected) => {
    expect(told(open, busyWith)).toEqual(expected);
  });
});
