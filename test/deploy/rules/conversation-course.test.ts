import { expect, test } from 'vitest';
import {
  afterTurns,
  endedOf,
  resultsOf,
  takenUp,
  withTurn,
  type ConversationCourse,
  type NextTurn,
  type Turn,
} from '../../../src/deploy/rules/conversation-course.ts';

const goesOn: Turn = { kind: 'goes-on', by: 'message' };
const movedOn: Turn = { kind: 'moved-on' };
const noGraph: Turn = { kind: 'broken', problems: [{ kind: 'no-graph', graph: 'refunds' }], byRun: false };
const fails: Turn = { kind: 'broken', problems: [{ kind: 'run-failed', step: 'message', error: 'E' }], byRun: true };
const hangs: Turn = { kind: 'unchecked', because: 'hangs', why: 'slow' };
const gone: Turn = { kind: 'unchecked', because: 'unreachable', why: 'gone' };

const on = (revision: 'changed' | 'live'): NextTurn => ({ kind: 'try', on: revision });
const isA = (result: object) => ({ kind: 'result', result: { threadId: 'one', ...result } });

test.each<[string, Turn[], boolean, object]>([
  ['nothing was tried', [], true, on('changed')],
  ['it goes on', [goesOn], true, isA({ kind: 'goes-on', by: 'message' })],
  ['it moved on', [movedOn], true, isA({ kind: 'moved-on' })],
  ['its graph is gone, whatever a run says', [noGraph], true, isA({ kind: 'broken' })],
  ['its run did not end', [hangs], true, isA({ kind: 'unchecked', because: 'hangs' })],
  ['its run fails', [fails], true, on('changed')],
  ['its run fails once of twice', [fails, goesOn], true, isA({ kind: 'unchecked', because: 'disagreement' })],
  ['its second run does not end', [fails, hangs], true, isA({ kind: 'unchecked', because: 'hangs' })],
  ['it moves on between two runs', [fails, movedOn], true, isA({ kind: 'moved-on' })],
  ['its run fails twice', [fails, fails], true, on('live')],
  ['its run fails twice, and nothing serves beside', [fails, fails], false, isA({ kind: 'broken' })],
  ['its run fails on both revisions', [fails, fails, fails], true, isA({ kind: 'broken-before' })],
  ['its run fails on the new one alone', [fails, fails, goesOn], true, isA({ kind: 'broken' })],
  ['its run hangs on the live one', [fails, fails, hangs], true, isA({ kind: 'broken' })],
  ['the live one can not be reached', [fails, fails, gone], true, isA({ kind: 'unchecked', because: 'unreachable' })],
])('what follows where %s', (_, turns, isLiveThere, expected) => {
  expect(afterTurns({ threadId: 'one', turns }, isLiveThere)).toMatchObject(expected);
});

const known = { updatedAt: '', graphId: 'refunds', assistantId: 'refunds', turns: [] };
const course: ConversationCourse = {
  id: 'intent',
  tries: 1,
  conversations: [
    { threadId: 'one', ...known },
    { threadId: 'two', ...known },
  ],
};

test('a course has the turns of each conversation, and says what is open at its end', () => {
  const after = withTurn(withTurn(course, 'two', fails), 'one', goesOn);
  expect(after.conversations?.map(({ turns }) => turns)).toEqual([[goesOn], [fails]]);
  const late = { because: 'unreachable', why: 'late' } as const;
  expect(resultsOf(after, true, late)).toMatchObject([
    { kind: 'goes-on' },
    { threadId: 'two', kind: 'unchecked', why: 'late' },
  ]);
  expect(endedOf(after).conversations).toMatchObject([{ threadId: 'one' }]);
});

test('four processes in a row that ended no turn are enough, and a turn begins the count again', () => {
  let taken: ConversationCourse | undefined = { id: 'intent', tries: 0 };
  const tries: unknown[] = [];
  while (taken) {
    taken = takenUp(taken);
    tries.push(taken?.tries);
  }
  expect(tries).toEqual([1, 2, 3, 4, undefined]);
  expect(withTurn({ ...course, tries: 4 }, 'one', goesOn).tries).toBe(1);
});
