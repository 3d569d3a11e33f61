import { describe, expect, test } from 'vitest';
import type { Thread } from '../../../src/contract/agent/thread.ts';
import { verdictReport } from '../../../src/contract/control/verdict.ts';
import { concludeConversations, type ConversationResult } from '../../../src/deploy/rules/conversation-verdict.ts';
import {
  compareInterrupts,
  compareStates,
  continuationOf,
  conversationState,
  copyMark,
  isLeftOver,
  markOfCopy,
  newestConversations,
  redactedProblem,
  resumeOf,
  type ConversationProblem,
  type ConversationSides,
  type ConversationState,
} from '../../../src/deploy/rules/conversations.ts';
import { toVerdictReport } from '../../../src/deploy/rules/verdict-report.ts';
import { concludeAll } from '../../../src/deploy/rules/verdict.ts';

const terms = { newest: 10, timeoutMs: 60_000 };
const state = (more: Partial<ConversationState> = {}): ConversationState => ({
  values: { amount: 30, policy: 'kind' },
  next: ['review'],
  interrupts: [],
  ...more,
});
const shape = (properties: object, nodes: string[] | undefined = ['classify', 'review']) => ({
  nodes,
  stateSchema: { type: 'object', properties },
});
const typed = { amount: { type: 'number' }, policy: { type: 'string' } };
const sides = (more: Partial<ConversationSides>): ConversationSides => ({
  before: state(),
  live: shape(typed),
  after: state(),
  changed: shape(typed),
  ...more,
});
const without = (values: object) => state({ values });

const comparisons: [string, Partial<ConversationSides>, ConversationProblem[]][] = [
  ['nothing has changed', {}, []],
  [
    'the pending node has another name',
    { changed: shape(typed, ['classify', 'approve']), after: state({ next: [] }) },
    [{ kind: 'no-node', node: 'review' }],
  ],
  [
    'the live revision does not have the pending node either',
    { live: shape(typed, ['classify']), changed: shape(typed, ['classify']), after: state({ next: [] }) },
    [],
  ],
  [
    'the new revision does not draw its graph, and nothing is pending there',
    { changed: { nodes: undefined, stateSchema: undefined }, after: state({ next: [] }) },
    [{ kind: 'not-pending', node: 'review' }],
  ],
  [
    'a channel is gone',
    { changed: shape({ amount: { type: 'number' } }), after: without({ amount: 30 }) },
    [{ kind: 'no-channel', channel: 'policy' }],
  ],
  [
    'a channel is gone that holds nothing',
    { before: without({ amount: 30, policy: [] }), changed: shape({ amount: {} }), after: without({ amount: 30 }) },
    [],
  ],
  [
    'a channel has another type',
    { changed: shape({ ...typed, amount: { type: 'string' } }) },
    [{ kind: 'other-type', channel: 'amount', is: 'number', mustBe: 'string' }],
  ],
  [
    'the value did not fit the schema of the live revision either',
    { live: shape({ amount: { type: 'string' } }), changed: shape({ ...typed, amount: { type: 'string' } }) },
    [],
  ],
  [
    'a field within a channel has another type',
    {
      before: without({ order: { id: 7 } }),
      after: without({ order: { id: 7 } }),
      live: shape({ order: { type: 'object', properties: { id: { type: 'integer' } } } }),
      changed: { nodes: undefined, stateSchema: { properties: { order: { $ref: '#/$defs/Order' } }, $defs: order() } },
    },
    [{ kind: 'other-type', channel: 'order', is: 'object', mustBe: undefined }],
  ],
  [
    'an optional channel and a node are new',
    { changed: shape({ ...typed, language: { type: 'string' } }, ['classify', 'review', 'translate']) },
    [],
  ],
  ['a channel that is new has to be there', { changed: { ...shape(typed), stateSchema: required() } }, []],
  ['the schema of the new revision is unusable', { changed: shape({ ...typed, amount: { type: 'nonsense' } }) }, []],
];

function order(): object {
  return { Order: { type: 'object', properties: { id: { type: 'string' } } } };
}
// A channel that no node has written yet is absent on the live revision as well.
function required(): Record<string, unknown> {
  return { type: 'object', properties: { ...typed, answer: { type: 'string' } }, required: ['answer'] };
}

describe('the state of a copy', () => {
  test.each(comparisons)('%s', (_, given, problems) => {
    expect(compareStates(sides(given))).toEqual(problems);
  });

  test('keeps one message of a long list, and of what is too long nothing but the channel', () => {
    const messages = [human('first'), human('last'), ...Array.from({ length: 20_000 }, () => ({ type: 'ai' }))];
    const read = conversationState({ values: { messages, text: 'x'.repeat(200_000), short: 1 }, next: [] });
    expect(read.values).toEqual({ messages: [human('last')], text: { landfall_too_large: true }, short: 1 });
    const given = { before: read, after: read, live: shape({ text: {} }) };
    const both = sides({ ...given, changed: shape({ text: { type: 'number' } }) });
    expect(compareStates(structuredClone(both))).toEqual([]);
    const gone = compareStates(sides({ ...given, after: without({}), changed: shape({ messages: {} }) }));
    expect(gone).toEqual([
      { kind: 'no-channel', channel: 'text' },
      { kind: 'no-channel', channel: 'short' },
    ]);
  });

  test('holds the interrupts of each task', () => {
    const tasks = [{ id: 't', name: 'review', interrupts: [{ id: 'i', value: { question: 'May I?' } }, 'odd'] }];
    const read = conversationState({ values: {}, next: ['review'], tasks });
    expect(read.interrupts).toEqual([{ node: 'review', id: 'i', value: { question: 'May I?' } }]);
    const large = [{ id: 't', name: 'review', interrupts: [{ id: 'i', value: { text: 'x'.repeat(200_000) } }] }];
    const { interrupts: cut } = conversationState({ values: {}, next: ['review'], tasks: large });
    expect(JSON.stringify(cut).length).toBeLessThan(200);
    expect([compareInterrupts(cut, read.interrupts), compareInterrupts(read.interrupts, cut)]).toEqual([[], []]);
  });
});

const shapes: [before: unknown, after: unknown, fields: string[] | undefined][] = [
  [{ question: 'a', amount: 1 }, { question: 'b', amount: 2, more: true }, undefined],
  [{ question: 'a', amount: 1 }, { question: 'b' }, ['amount']],
  [{ amount: 1 }, { amount: '1' }, ['amount']],
  [{ call: { name: 'pay', args: { to: 'Ada' } } }, { call: { name: 'pay', args: [] } }, ['call']],
  [{ calls: [{ name: 'pay' }] }, { calls: [{ title: 'pay' }] }, ['calls']],
  [{ calls: [] }, { calls: [{ title: 'pay' }] }, undefined],
  [{ note: null }, { note: 'x' }, undefined],
  [{ note: 'x' }, { note: null }, undefined],
  ['Shall I?', 'Should I?', undefined],
  ['Shall I?', { question: 'Shall I?' }, []],
  [{ question: 'a' }, null, []],
  [{ 'ada@example.com': 1 }, {}, []],
];

test.each(shapes)('an interrupt %j that becomes %j has changed in %j', (before, after, fields) => {
  const of = (value: unknown) => [{ node: 'review', id: 'i', value }];
  const expected = fields === undefined ? [] : [{ kind: 'other-interrupt', node: 'review', fields }];
  expect(compareInterrupts(of(before), of(after))).toEqual(expected);
  expect(compareInterrupts(of(before), [])).toEqual([{ kind: 'no-interrupt', node: 'review' }]);
});

const human = (content: unknown) => ({ type: 'human', content });
const interrupts = [{ node: 'review', id: 'i', value: 'May I?' }];
const continuations: [string, Partial<ConversationState>, object, object][] = [
  ['reaches its interrupt again', { interrupts }, {}, { kind: 'interrupt' }],
  ['runs its pending node', {}, {}, { kind: 'next-node' }],
  [
    'gets its last message of a person again, without its id',
    { next: [], values: { messages: [human('one'), { ...human('two'), id: 'm' }, { type: 'ai', content: 'three' }] } },
    {},
    { kind: 'message', input: { messages: [{ role: 'user', content: 'two' }] } },
  ],
  [
    'gets the message of the file',
    { next: [], values: { messages: [human('one')] } },
    { message: 'Thank you' },
    { kind: 'message', input: { messages: [{ role: 'user', content: 'Thank you' }] } },
  ],
  ['gets the input of the file', { next: [] }, { message: { order: 1 } }, { kind: 'message', input: { order: 1 } }],
  [
    'has nothing to go on with',
    { next: [], values: { messages: [{ type: 'ai', content: 'hi' }] } },
    {},
    { kind: 'none' },
  ],
];

test.each(continuations)('a conversation %s', (_, given, more, expected) => {
  expect(continuationOf(state(given), { ...terms, ...more })).toEqual(expected);
});

const reviewed = (...allowed_decisions: string[]) => ({
  action_requests: [{ name: 'pay', args: {} }],
  review_configs: [{ action_name: 'pay', allowed_decisions }],
});
const resumes: [string, unknown[], unknown, unknown][] = [
  ['an unknown kind, without a value in the file', ['May I?'], undefined, undefined],
  ['an unknown kind, with one', ['May I?'], false, { value: false }],
  [
    'actions that may be rejected',
    [reviewed('approve', 'reject')],
    true,
    { value: { decisions: [{ type: 'reject' }] } },
  ],
  ['actions that may not be rejected', [reviewed('approve')], undefined, undefined],
  ['an inbox', [[{ config: { allow_ignore: true } }]], undefined, { value: [{ type: 'ignore', args: null }] }],
  ['an inbox that can not be ignored', [[{ config: {} }]], undefined, undefined],
  ['two of which only one is known', [reviewed('reject'), 'May I?'], undefined, undefined],
  [
    'two, each by its id',
    [reviewed('reject'), 'May I?'],
    7,
    { value: { i0: { decisions: [{ type: 'reject' }] }, i1: 7 } },
  ],
];

test.each(resumes)('resumes %s', (_, values, resume, expected) => {
  const pending = values.map((value, index) => ({ node: 'review', id: `i${index}`, value }));
  expect(resumeOf(pending, { ...terms, ...(resume === undefined ? {} : { resume: { value: resume } }) })).toEqual(
    expected,
  );
});

test('takes the newest that ran a graph, and no copies', () => {
  const thread = (thread_id: string, updated_at: string, metadata: object): Thread => ({
    thread_id,
    created_at: '',
    updated_at,
    status: 'idle',
    config: {},
    metadata: { ...metadata },
  });
  const graph = { graph_id: 'refunds' };
  const threads = [
    thread('old', '2026-01-01T00:00:00Z', graph),
    thread('new', '2026-01-03T00:00:00Z', graph),
    thread('empty', '2026-01-04T00:00:00Z', {}),
    thread('copy', '2026-01-05T00:00:00Z', { ...graph, ...copyMark }),
    thread('middle', '2026-01-02T00:00:00Z', graph),
  ];
  expect(newestConversations(threads, 2).map(({ thread_id }) => thread_id)).toEqual(['new', 'middle']);
  const copyUntil = (until: number) => thread('copy', '', markOfCopy('course', until));
  expect([isLeftOver(copyUntil(1_000), 999), isLeftOver(copyUntil(1_000), 1_000)]).toEqual([false, true]);
  expect(isLeftOver(thread('of a person', '', { landfall_copy: true }), 1_000)).toBe(false);
});

const goesOn: ConversationResult = { threadId: 'a', kind: 'goes-on', by: 'message' };
const broken: Extract<ConversationResult, { kind: 'broken' }> = {
  threadId: 'b',
  kind: 'broken',
  problems: [{ kind: 'no-node', node: 'review' }],
};
const unchecked: ConversationResult = { threadId: 'c', kind: 'unchecked', because: 'unreachable', why: 'gone' };
const movedOn: ConversationResult = { threadId: 'd', kind: 'moved-on' };
const verdicts: [string, ConversationResult[], string | undefined][] = [
  ['none', [], undefined],
  ['only some that moved on', [movedOn, { threadId: 'e', kind: 'broken-before' }], undefined],
  ['one that goes on, and one that moved on', [goesOn, movedOn], 'passed'],
  ['one that could not be checked', [goesOn, unchecked], 'unproven'],
  ['one that is broken, beside one that could not be checked', [goesOn, unchecked, broken], 'failed'],
];

test.each(verdicts)('the verdict on %s', (_, results, kind) => {
  expect(concludeConversations(results, 5)?.verdict.kind).toBe(kind);
});

test('names broken conversations by their id, and masks what an agent calls its nodes', () => {
  const conclude = (results: ConversationResult[]) => concludeConversations(results, 5)?.verdict;
  const masked = redactedProblem({ kind: 'no-node', node: 'review' }, (text) => text.replaceAll('review', '***'));
  expect(conclude([{ ...broken, problems: [masked] }, goesOn])).toMatchObject({
    held: [
      { held: false, seen: 'thread b: its next step is the node `***`, which the new revision does not have' },
      { held: true, expected: '1 conversation goes on: 1 by another message' },
    ],
  });
  const many = conclude(Array.from({ length: 100 }, () => broken));
  expect(many?.kind === 'failed' && many.held.map(({ seen }) => seen).slice(19)).toEqual([
    expect.stringContaining('thread b'),
    '80 more threads',
  ]);
});

test.each<ConversationProblem>([
  { kind: 'no-graph', graph: 'my canary' },
  { kind: 'no-node', node: 'my canary' },
  { kind: 'not-pending', node: 'my canary' },
  { kind: 'no-interrupt', node: 'my canary' },
  { kind: 'other-interrupt', node: 'my canary', fields: ['canary'] },
  { kind: 'no-channel', channel: 'my canary' },
  { kind: 'other-type', channel: 'my canary', is: 'text', mustBe: 'canary' },
  { kind: 'run-failed', step: 'message', error: 'canary' },
])('a problem has no secret before it is kept: $kind', (problem) => {
  const redacted = redactedProblem(problem, (text) => text.replaceAll('canary', '***'));
  expect(redacted.kind).toBe(problem.kind);
  expect(JSON.stringify(redacted)).not.toContain('canary');
});

test('is reported to a service like the verdict on a smoke test', () => {
  const found = concludeConversations([broken, goesOn, movedOn], 5.5);
  const verdict = concludeAll(found ? [found] : []);
  const report = toVerdictReport(verdict, { reporter: 'action', redact: (text) => text });
  expect(verdictReport.parse(report)).toMatchObject({
    kind: 'failed',
    tests: [
      {
        name: 'conversations',
        kind: 'failed',
        attempts: 3,
        expectations: [{ held: false, seen: expect.stringContaining('thread b') }, { held: true }],
      },
    ],
  });
});
