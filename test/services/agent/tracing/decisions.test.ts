import { describe, expect, test } from 'vitest';
import { toExportOutcome } from '../../../../src/services/agent/tracing/run-exporter.ts';
import { usageOf } from '../../../../src/services/agent/tracing/usage.ts';

const message = (id: string | undefined, input: unknown, output: unknown = 0, total?: unknown) => ({
  ...(id === undefined ? {} : { id }),
  usage_metadata: {
    input_tokens: input,
    output_tokens: output,
    ...(total === undefined ? {} : { total_tokens: total }),
  },
});

describe('the tokens of a run', () => {
  test.each([
    ['are unknown without messages', undefined, { output: 'text' }, undefined],
    ['are unknown with messages without usage', undefined, { messages: [{ id: 'a' }, 'text', null] }, undefined],
    ['are unknown if the state is not an object', undefined, 'text', undefined],
    [
      'are summed',
      undefined,
      { messages: [message('a', 3, 2), message('b', 1, 1)] },
      { input: 4, output: 3, total: 7 },
    ],
    ['use an existing total', undefined, { messages: [message('a', 3, 2, 9)] }, { input: 3, output: 2, total: 9 }],
    [
      'exclude those of earlier runs',
      { messages: [message('a', 30, 20)] },
      { messages: [message('a', 30, 20), message('b', 1, 1)] },
      { input: 1, output: 1, total: 2 },
    ],
    [
      'include every list of the state',
      undefined,
      { messages: [message('a', 1, 1)], drafts: [message('b', 2, 2)] },
      { input: 3, output: 3, total: 6 },
    ],
    [
      'ignore invalid numbers',
      undefined,
      { messages: [message('a', '3', -2), message('b', 1.5, Number.NaN), message('c', 4)] },
      { input: 4, output: 0, total: 4 },
    ],
  ])('%s', (_, before, after, usage) => {
    expect(usageOf(before, after)).toEqual(usage);
  });

  test('a message without an id is compared by identity', () => {
    const old = message(undefined, 5, 5);
    expect(usageOf({ messages: [old] }, { messages: [old, message(undefined, 1, 1)] })).toEqual({
      input: 1,
      output: 1,
      total: 2,
    });
  });
});

test.each([
  [200, 'taken'],
  [204, 'taken'],
  [400, 'refused'],
  [413, 'refused'],
  [422, 'refused'],
  [404, 'gone'],
  [410, 'gone'],
  [401, 'away'],
  [403, 'away'],
  [429, 'away'],
  [500, 'away'],
  [503, 'away'],
] as const)('a response with %i means that runs are %s', (status, kind) => {
  expect(toExportOutcome(status).kind).toBe(kind);
});
