import { describe, expect, test } from 'vitest';
import { describeGraph, layOutGraph } from '../../../src/console/pages/playground/graph-layout.ts';
import { changedValues, toSteps } from '../../../src/console/pages/playground/history.ts';
import {
  interruptsOf,
  resumeFormatOf,
  resumeCommand,
  resumeValue,
} from '../../../src/console/pages/playground/interrupts.ts';
import { safeUrl } from '../../../src/console/pages/playground/markdown-tree.ts';
import { stackIn } from '../../../src/console/pages/playground/run-view.ts';
import { toThreadQuery } from '../../../src/console/pages/playground/thread-query.ts';
import type { ThreadState } from '../../../src/contract/agent/thread.ts';

const state = (
  id: string,
  parent: string | undefined,
  values: object,
  more: Partial<ThreadState> = {},
): ThreadState => ({
  values,
  next: [],
  checkpoint: { checkpoint_id: id },
  parent_checkpoint: parent === undefined ? null : { checkpoint_id: parent },
  metadata: { source: 'loop' },
  ...more,
});

describe('steps', () => {
  test('name the nodes that ran, what changed, and forks', () => {
    const steps = toSteps([
      state('d', 'b', { a: 5 }),
      state('c', 'b', { a: 2, x: 1 }),
      state('b', 'a', { a: 1 }, { next: ['left', 'right'] }),
      state('a', undefined, { a: 1 }, { next: ['__start__'], metadata: { source: 'input' } }),
    ]);
    expect(
      steps.map(({ origin, changes, isFork }) => [origin, changes.map(({ key, kind }) => `${key} ${kind}`), isFork]),
    ).toEqual([
      ['left, right', ['a changed'], true],
      ['left, right', ['a changed', 'x added'], false],
      ['Start', [], false],
      ['Before the run', ['a added'], false],
    ]);
  });

  test('an edit sends the changed keys only', () => {
    expect(changedValues({ list: [1], word: 'a' }, { list: [1], word: 'b', extra: null })).toEqual({
      word: 'b',
      extra: null,
    });
  });
});

describe('interrupts', () => {
  const args = { path: 'a' };

  test.each(['decisions', 'camel-decisions'] as const)('answers the middleware (%s)', (form) => {
    const isCamel = form === 'camel-decisions';
    const format = resumeFormatOf(
      isCamel
        ? {
            actionRequests: [{ name: 'rm', args }],
            reviewConfigs: [{ actionName: 'rm', allowedDecisions: ['edit', 'reject'] }],
          }
        : {
            action_requests: [{ name: 'rm', args }],
            review_configs: [{ action_name: 'rm', allowed_decisions: ['edit', 'reject'] }],
          },
    );
    if (format.kind !== 'actions') throw new Error('no actions were found');
    expect([format.form, format.actions[0]?.allowed]).toEqual([form, ['edit', 'reject']]);
    expect(resumeValue(format, [{ kind: 'edit', args: { path: 'b' } }])).toEqual({
      decisions: [{ type: 'edit', [isCamel ? 'editedAction' : 'edited_action']: { name: 'rm', args: { path: 'b' } } }],
    });
    expect(resumeValue(format, [{ kind: 'reject', message: 'no' }])).toEqual({
      decisions: [{ type: 'reject', message: 'no' }],
    });
  });

  test('answers agent inboxes, which send a list', () => {
    const one = {
      action_request: { action: 'rm', args },
      config: { allow_accept: true, allow_respond: true, allow_ignore: true },
    };
    const format = resumeFormatOf(one);
    if (format.kind !== 'actions') throw new Error('no actions were found');
    expect(format.actions[0]?.allowed).toEqual(['approve', 'respond', 'reject']);
    expect(resumeValue(format, [{ kind: 'approve' }])).toEqual([{ type: 'accept', args: null }]);
    expect(resumeValue(format, [{ kind: 'respond', message: 'later' }])).toEqual([{ type: 'response', args: 'later' }]);
  });

  test('answers several at once by their ids, one by its value', () => {
    const tasks = ['x', 'y'].map((id) => ({ id, name: `node ${id}`, interrupts: [{ id, value: `${id}?` }] }));
    const found = interruptsOf(state('a', undefined, {}, { tasks }));
    expect(found.map(({ id, node }) => [id, node])).toEqual([
      ['x', 'node x'],
      ['y', 'node y'],
    ]);
    const answers = found.map((interrupt, index) => ({ interrupt, value: index }));
    expect(resumeCommand(answers)).toEqual({ resume: { x: 0, y: 1 } });
    expect(resumeCommand(answers.slice(0, 1))).toEqual({ resume: 0 });
    expect(resumeFormatOf('Which price?')).toEqual({ kind: 'free' });
  });
});

describe('the graph', () => {
  const drawing = {
    nodes: ['__start__', 'sort:first', 'sort:second', 'answer', '__end__'].map((id) => ({ id })),
    edges: [
      { source: '__start__', target: 'sort:first' },
      { source: 'sort:first', target: 'sort:second' },
      { source: 'sort:second', target: 'answer' },
      { source: 'answer', target: 'sort:first', conditional: true },
      { source: 'answer', target: '__end__', conditional: true },
      { source: 'answer', target: 'nowhere' },
    ],
  };

  test('is placed from top to bottom, with subgraphs around their nodes', () => {
    const layout = layOutGraph(drawing);
    const y = (id: string): number => layout?.nodes.find((node) => node.id === id)?.y ?? 0;
    expect(y('__start__')).toBeLessThan(y('sort:first'));
    expect(y('answer')).toBeLessThan(y('__end__'));
    expect(layout?.groups.map(({ id }) => id)).toEqual(['sort']);
    expect(layout?.lines.length).toBe(5);
  });

  test('is only listed where it is large', () => {
    const many = Array.from({ length: 151 }, (_each, index) => ({ id: String(index) }));
    expect(layOutGraph({ nodes: many, edges: [] })).toBeUndefined();
    expect(describeGraph(drawing).at(3)).toEqual({ id: 'answer', label: 'answer', next: ['first', 'End', 'nowhere'] });
  });
});

test.each([
  ['https://example.com/a', 'https://example.com/a'],
  ['mailto:a@example.com', 'mailto:a@example.com'],
  ['javascript:alert(1)', undefined],
  [' JaVaScRiPt:alert(1)', undefined],
  ['data:text/html,x', undefined],
  ['/deployments', undefined],
  ['//example.com', undefined],
])('a link to %s leads to %s', (url, address) => {
  expect(safeUrl(url)).toBe(address);
});

test.each([
  ['ada', { query: {}, text: 'ada' }],
  ['user=ada', { query: { metadata: { user: 'ada' } }, text: '' }],
  ['values.count=3', { query: { values: { count: 3 } }, text: '' }],
  ['3f0a52a4-7f6e-4f7e-9a53-0a2f4cbb7f11', { query: { ids: ['3f0a52a4-7f6e-4f7e-9a53-0a2f4cbb7f11'] }, text: '' }],
])('the search %s becomes %j', (search, expected) => {
  expect(toThreadQuery(search)).toEqual(expected);
});

test('the stack of an error ends before the next log line', () => {
  const messages = ['Run r failed: no ink', '    at a', '    at b', 'Something else', '    at c'];
  const logs = messages.map((message, id) => ({ id, message }));
  expect(stackIn(logs, { id: 0, message: messages[0] ?? '' })).toBe('Run r failed: no ink\n    at a\n    at b');
});

test('the stack of an error in Python keeps its indentation', () => {
  // The service indents what follows the first line of an error.
  const messages = [
    'Run r failed:   File "graph.py", line 3, in answer',
    '      raise NoInk("no ink")',
    '  NoInk: no ink',
  ];
  const logs = [...messages, 'Something else'].map((message, id) => ({ id, message }));
  expect(stackIn(logs, { id: 0, message: messages[0] ?? '' })).toBe(messages.join('\n'));
});
