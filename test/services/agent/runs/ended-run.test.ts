import { describe, expect, test } from 'vitest';
import { endedRunResponse, endedRunError, compareWithThread } from '../../../../src/services/agent/runs/ended-run.ts';
import type { EndedRunRecord } from '../../../../src/services/agent/runs/ended-run.ts';
import { RunStopped, statusOf } from '../../../../src/services/agent/runs/run-error.ts';
import type { StopReason } from '../../../../src/services/agent/runs/run-error.ts';

const failure = { error: 'Boom', message: 'no ink' };
const done = { values: { a: 1 }, waitsFor: undefined };
const asking = { values: { a: 1 }, waitsFor: [{ value: 'may I?' }] };
const good = { status: 'success', error: null } as const;
const nothing: EndedRunRecord = { run: undefined, ending: undefined, state: undefined };

test('a run of which nothing is kept is told of without a word on where it was', () => {
  expect(endedRunResponse(nothing)).toContain('on_completion');
  expect(endedRunResponse(nothing)).not.toContain('process');
});

describe('what is answered of a run that has ended', () => {
  test.each<[string, Partial<EndedRunRecord>, unknown]>([
    ['the values that it left', { run: good, state: done }, { a: 1 }],
    [
      'its own result if that was stored',
      { run: good, state: done, ending: { kind: 'values', json: '{"b":2}' } },
      { b: 2 },
    ],
    [
      'the values with the interrupts of its graph',
      { run: good, state: asking },
      { a: 1, __interrupt__: [{ value: 'may I?' }] },
    ],
    [
      'an empty list of interrupts if none is known',
      { run: good, state: { values: null, waitsFor: [] } },
      { __interrupt__: [] },
    ],
    ['its error', { run: { status: 'error', error: failure }, state: done }, { __error__: failure }],
    [
      'the stored error of a deleted stateless run',
      { ending: { kind: 'error', json: JSON.stringify(failure) } },
      { __error__: failure },
    ],
    ['the stored result of a stateless run', { ending: { kind: 'values', json: '{"b":2}' } }, { b: 2 }],
    ['an error if nothing was stored', {}, { __error__: { error: 'ResultNotKept', message: expect.any(String) } }],
    ['null if it left no values', { run: good, state: { values: null, waitsFor: undefined } }, null],
    [
      'an error if its state is gone',
      { run: good },
      { __error__: { error: 'ResultNotKept', message: expect.stringContaining('changed since') } },
    ],
  ])('%s', (_, left, answer) => expect(JSON.parse(endedRunResponse({ ...nothing, ...left }))).toEqual(answer));

  test('a run that went well has no error, whatever was stored', () => {
    expect(endedRunError({ run: good, ending: { kind: 'error', json: '{}' } })).toBeUndefined();
  });
});

describe('a thread, relative to the end of one of its runs', () => {
  const at = (ms: number) => new Date(ms);
  test.each([
    ['has the run’s state if the times are equal', 'idle', 7, 'as-it-left-it'],
    ['may have interrupts missing from its row while busy', 'busy', 7, 'not-changed-since'],
    ['is unchanged if it changed earlier: the run left no state', 'idle', 5, 'not-changed-since'],
    ['is unchanged if it never had a state', 'idle', undefined, 'not-changed-since'],
    ['has changed if a later run or a person updated the state', 'idle', 9, 'changed'],
  ] as const)('%s', (_, status, changed, expected) => {
    const state_updated_at = changed === undefined ? null : at(changed);
    expect(compareWithThread({ ended_at: at(7) }, { status, state_updated_at })).toBe(expected);
  });
});

describe('the final status of a run', () => {
  test.each<[string, unknown, string]>([
    ['nothing was thrown', undefined, 'success'],
    ['the graph threw', new Error('x'), 'error'],
    ['the graph threw a value that is not an error', 'x', 'error'],
    ...(['cancelled', 'rolled-back', 'caller-gone', 'shutdown'] satisfies StopReason[]).map(
      (reason): [string, unknown, string] => [`it was stopped: ${reason}`, new RunStopped(reason), 'interrupted'],
    ),
    ['it took too long', new RunStopped('timed-out'), 'timeout'],
  ])('%s', (_, thrown, status) => expect(statusOf(thrown)).toBe(status));
});
