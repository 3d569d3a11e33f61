import { describe, expect, test } from 'vitest';
import { decideHead, type HeadObservation } from '../../../app/recovery/recover-heads.ts';
import type { RevisionSummary } from '../../../src/deploy/rules/trigger-types.ts';
import { commitOf } from '../reconcile/requests.ts';

const minute = 60_000;
const now = Date.parse('2026-11-21T12:00:00Z');
const [a, b, c] = [commitOf('a'), commitOf('b'), commitOf('c')];
type Word = HeadObservation['intents'][number];

const built = (id: string, commit: string | undefined, phase: RevisionSummary['phase'] = 'live'): RevisionSummary => ({
  id,
  commit,
  phase,
});
const word = (commit: string, more: Partial<Word> & { kind?: Word['cause']['kind'] } = {}): Word => {
  const { kind = 'push', ...rest } = more;
  return {
    commit,
    branch: 'main',
    cause: { kind, key: 'k', at: now },
    state: 'ended',
    createdAt: now - 90 * minute,
    ...rest,
  };
};

/** `a` is live, and `b` is the head, an hour old. */
const question = (more: Partial<HeadObservation> = {}): HeadObservation => ({
  head: { sha: b, message: 'Work', committedAt: now - 60 * minute },
  live: built('r1', a),
  latest: built('r1', a),
  intents: [],
  rolledBackCommit: undefined,
  branch: 'main',
  now,
  ...more,
});

describe('a head was missed if', () => {
  test.each<[string, Partial<HeadObservation>]>([
    ['another commit is live', {}],
    ['nothing is live', { live: undefined, latest: undefined }],
    ['the commit of the live revision is unknown', { live: built('r1', undefined), latest: built('r1', undefined) }],
    ['another client built it and failed, which no check says', { latest: built('r2', b, 'ended') }],
    ['the newest intent is about another commit', { intents: [word(a)] }],
    ['its newest intent is older than one of another commit', { intents: [word(a), word(b)] }],
    ['it is live, but another commit is on its way', { live: built('r1', b), latest: built('r2', c, 'on-its-way') }],
    [
      'it was cut off when the App was removed',
      { intents: [word(b, { decision: { kind: 'skip', code: 'not-installed' } })] },
    ],
    [
      'it was superseded, and the branch returned to it',
      { intents: [word(b, { end: { kind: 'superseded', reason: 'Another is the head.', at: now - 80 * minute } })] },
    ],
    [
      'it was joined to a superseded request',
      {
        intents: [
          word(b, { end: { kind: 'joined', reason: 'Reported by another.', at: now - 80 * minute } }),
          word(b, { end: { kind: 'other-commit', reason: 'Another was built.', at: now - 80 * minute } }),
        ],
      },
    ],
    ['it was rolled back and no check says so', { rolledBackCommit: b }],
    ['its commit time is in the future', { head: { sha: b, message: 'Work', committedAt: now + 24 * 60 * minute } }],
    ['its commit has no time', { head: { sha: b, message: 'Work', committedAt: 0 } }],
    ['its newest intent was for another branch', { intents: [word(b, { branch: 'next' })] }],
  ])('%s', (_, more) => {
    expect(decideHead(question(more))).toMatchObject({ kind: 'missed' });
  });

  test.each([0, now + 24 * 60 * minute])('commit time %i does not count for the delay', (committedAt) => {
    const head = { sha: b, message: 'Work', committedAt };
    expect(decideHead(question({ head }))).toMatchObject({ lateMs: minute });
    expect(decideHead(question({ head, intents: [word(a)] }))).toMatchObject({ lateMs: 90 * minute });
  });
});

describe('a head is fine if', () => {
  test.each<[string, Partial<HeadObservation>, string]>([
    ['it is live', { live: built('r1', b), latest: built('r1', b) }, 'bbbbbbb is live'],
    [
      'it is live and a later revision failed',
      { live: built('r1', b), latest: built('r2', c, 'ended') },
      'bbbbbbb is live',
    ],
    ['it is on its way', { latest: built('r2', b, 'on-its-way') }, 'revision r2 of bbbbbbb is on its way'],
    [
      'a revision in progress may be it',
      { latest: built('r2', undefined, 'on-its-way') },
      'revision r2 is in progress, and its commit is not known yet',
    ],
    [
      'its intent is the newest and open',
      { intents: [word(b, { state: 'waiting' })] },
      'the newest intent is about bbbbbbb',
    ],
    ['its intent is the newest and ended', { intents: [word(b)] }, 'the newest intent is about bbbbbbb'],
    [
      'it failed its smoke test and was rolled back',
      { intents: [word(a, { kind: 'failure' }), word(b)] },
      'the newest intent is about bbbbbbb',
    ],
    [
      'a person rolled it back',
      { intents: [word(a, { kind: 'rollback' }), word(b)] },
      'the newest intent is about bbbbbbb',
    ],
    [
      'it was rolled back, as its check says, and the branch returned to it',
      { rolledBackCommit: b, intents: [word(a), word(b)] },
      'bbbbbbb was rolled back',
    ],
    [
      'it is so new that its push may still arrive',
      { head: { sha: b, message: '', committedAt: now - 50_000 } },
      'bbbbbbb is new, and its push may be on its way',
    ],
    [
      'the branch may just have returned to it',
      { intents: [word(a, { createdAt: now - 50_000 })] },
      'bbbbbbb is new, and its push may be on its way',
    ],
  ])('%s', (_, more, why) => {
    expect(decideHead(question(more))).toEqual({ kind: 'fine', why });
  });
});

test('the same finding is the same cause until there is another revision', () => {
  const keys = [
    question(),
    question({ now: now + 10 * minute }),
    question({ latest: built('r2', c, 'ended') }),
    question({ live: undefined, latest: undefined }),
  ]
    .map(decideHead)
    .map((answer) => (answer.kind === 'missed' ? answer.key : answer.why));
  expect(keys).toEqual([`${b}:r1`, `${b}:r1`, `${b}:r2`, `${b}:none`]);
});

test.each<[string, Partial<HeadObservation>, number]>([
  ['since its commit', {}, 60],
  ['since the branch was forced back to an old commit', { intents: [word(a, { createdAt: now - 15 * minute })] }, 15],
  [
    'not before it was committed, even if a clock is ahead',
    { head: { sha: b, message: '', committedAt: now - 2 * minute } },
    2,
  ],
])('the delay counts %s', (_, more, minutes) => {
  expect(decideHead(question(more))).toMatchObject({ lateMs: minutes * minute });
});
