import { describe, expect, test } from 'vitest';
import { leftAnswer, leftError } from '../../../src/agent-server/runs/left-answer.ts';
import type { Left } from '../../../src/agent-server/runs/left-answer.ts';
import { RunStopped, statusOf } from '../../../src/agent-server/runs/run-error.ts';
import type { StopReason } from '../../../src/agent-server/runs/run-error.ts';

const failure = { error: 'Boom', message: 'no ink' };
const idle = { status: 'idle', values: { a: 1 }, interrupts: {} } as const;
const asking = { status: 'interrupted', values: { a: 1 }, interrupts: { task: [{ value: 'may I?' }] } } as const;
const good = { status: 'success', error: null } as const;
const nothing: Left = { run: undefined, ending: undefined, thread: undefined };

describe('what is answered of a run that another process carried out', () => {
  test.each<[string, Partial<Left>, unknown]>([
    ['the values of its thread', { run: good, thread: idle }, { a: 1 }],
    [
      'its own answer where that was stored',
      { run: good, thread: idle, ending: { kind: 'values', json: '{"b":2}' } },
      { b: 2 },
    ],
    [
      'with the values what its thread waits for',
      { run: good, thread: asking },
      { a: 1, __interrupt__: [{ value: 'may I?' }] },
    ],
    ['its error', { run: { status: 'error', error: failure }, thread: idle }, { __error__: failure }],
    [
      'the stored error of a stateless one, whose row is gone',
      { ending: { kind: 'error', json: JSON.stringify(failure) } },
      { __error__: failure },
    ],
    ['the stored answer of a stateless one', { ending: { kind: 'values', json: '{"b":2}' } }, { b: 2 }],
    [
      'that nothing was kept, where nothing was',
      {},
      { __error__: { error: 'ResultNotKept', message: expect.any(String) } },
    ],
    ['null, where its thread has no values', { run: good }, null],
  ])('%s', (_, left, answer) => expect(JSON.parse(leftAnswer({ ...nothing, ...left }))).toEqual(answer));

  test('a run that went well has no error, whatever was stored', () => {
    expect(leftError({ run: good, ending: { kind: 'error', json: '{}' } })).toBeUndefined();
  });
});

describe('the status with which a run ends', () => {
  test.each<[string, unknown, string]>([
    ['nothing was thrown', undefined, 'success'],
    ['the graph threw', new Error('x'), 'error'],
    ['the graph threw what is no error', 'x', 'error'],
    ...(['cancelled', 'rolled-back', 'caller-gone', 'shutdown'] satisfies StopReason[]).map(
      (reason): [string, unknown, string] => [`it was stopped: ${reason}`, new RunStopped(reason), 'interrupted'],
    ),
    ['it took too long', new RunStopped('timed-out'), 'timeout'],
  ])('%s', (_, thrown, status) => expect(statusOf(thrown)).toBe(status));
});
