import { expect, test } from 'vitest';
import type { IntentState } from '../../../app/reconcile/intent.ts';
import { exact, readIntent, toStored, type StoredIntent } from '../../../app/reconcile/stored-intent.ts';
import { anIntent } from '../an-intent.ts';

const stored = toStored(anIntent('requested'));
const bound = { revisionId: 'r2', deadline: 5, smoke: {} };
const verdict = { kind: 'failed', tests: [] } as const;
const hold = { address: 'https://held.test', endsAt: '2026-01-05T09:00:00Z' };

const states: readonly [IntentState, StoredIntent['state']][] = [
  ['requested', 'requested'],
  ['waiting', 'waiting'],
  ['paused', 'held'],
  ['measuring', 'measuring'],
  ['expecting', 'expecting'],
  ['sending', 'sending'],
  ['following', 'following'],
  ['testing', 'smoking'],
  ['deciding', 'smoking'],
  ['concluding', 'smoking'],
  ['undoing', 'smoking'],
  ['ended', 'ended'],
];

test.each(states)('%s is stored as %s, and read as it was', (state, name) => {
  const intent = anIntent(state, { former: { latest: null, live: 'r0' } });
  const row = toStored(intent);
  expect(row.state).toBe(name);
  expect(readIntent(row)).toEqual(exact(intent));
});

test.each<[string, Partial<StoredIntent>, object]>([
  ['a revision that is not named is looked for', { state: 'smoking', deadline: 5 }, { state: 'sending', deadline: 5 }],
  ['nothing to measure is decided again', { state: 'measuring' }, { state: 'requested' }],
  [
    'a revision without progress',
    { state: 'following', revisionId: 'r2' },
    { how: 'triggered', rollout: { seen: [] } },
  ],
  ['a verdict that is due', { ...bound, state: 'smoking', verdict, verdictDueAt: 5 }, { state: 'undoing' }],
  ['a verdict while it is held', { ...bound, state: 'smoking', verdict, hold }, { state: 'deciding', hold }],
  ['an end without an outcome', { state: 'ended' }, { state: 'ended', end: { kind: 'unknown' } }],
])('%s', (_, fields, expected) => {
  expect(readIntent({ ...stored, ...fields })).toMatchObject(expected);
});

test('what a state does not have is dropped', () => {
  expect(readIntent({ ...stored, ...bound, hold, verdict })).toEqual(anIntent('requested'));
  expect(readIntent({ ...stored, state: 'waiting', deadline: 5 })).toEqual(anIntent('waiting'));
});
