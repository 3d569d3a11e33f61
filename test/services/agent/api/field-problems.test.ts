import * as z from 'zod';
import { describe, expect, test } from 'vitest';
import { operations } from '../../../../src/services/agent/api/operations.ts';
import { problemsOf } from '../../../../src/services/agent/api/field-problems.ts';
import { cronPatch } from '../../../../src/contract/agent/cron.ts';
import { runCreate } from '../../../../src/contract/agent/run.ts';
import { threadCreate, threadHistorySearch } from '../../../../src/contract/agent/thread.ts';

const reported = (schema: z.ZodType, value: unknown) => {
  const parsed = schema.safeParse(value);
  return parsed.success ? [] : problemsOf(parsed.error, ['body']).map(({ loc, msg }) => `${loc.join('.')}: ${msg}`);
};

const run = (field: object) => reported(runCreate, { assistant_id: 'a', ...field });

describe('a field with several forms', () => {
  test.each([
    ['an unknown word', run({ stream_mode: 'bogus' }), /^body\.stream_mode: .*expected one of "values"\|.* or array$/],
    ['another type', run({ stream_mode: 5 }), /^body\.stream_mode: .*expected one of "values"\|.* or array$/],
    [
      'an item of a list',
      run({ stream_mode: ['bogus'] }),
      /^body\.stream_mode\.0: Invalid option: expected one of "values"/,
    ],
    [
      'an unknown node',
      run({ interrupt_before: 7 }),
      /^body\.interrupt_before: Invalid input: expected "\*" or array$/,
    ],
    ['a goto target', run({ command: { goto: 7 } }), /^body\.command\.goto: .* expected object or array or string$/],
    [
      'a list of goto targets',
      run({ command: { goto: [7] } }),
      /^body\.command\.goto\.0: .* expected object or string$/,
    ],
    ['a goto target without a node', run({ command: { goto: {} } }), /^body\.command\.goto\.node: Field required$/],
    ['an invalid time', reported(threadCreate, { ttl: 'x' }), /^body\.ttl: Invalid input: expected number or object$/],
    ['a time too short', reported(threadCreate, { ttl: 0 }), /^body\.ttl: Too small/],
    [
      'an unknown strategy',
      reported(threadCreate, { ttl: { ttl: 1, strategy: 'x' } }),
      /^body\.ttl\.strategy: .*"delete"/,
    ],
    [
      'an unknown key',
      reported(threadCreate, { ttl: { ttl: 1, days: 2 } }),
      /^body\.ttl\.days: Unrecognized key: "days"/,
    ],
    [
      'an invalid command',
      run({ command: { resum: 'yes' } }),
      /^body\.command\.resum: Unknown: a command takes "resume", "update" and "goto"$/,
    ],
    ['a missing value', reported(runCreate, {}), /^body\.assistant_id: Field required$/],
    [
      'a string instead of an object',
      run({ context: 'x' }),
      /^body\.context: Invalid input: expected an object, received string$/,
    ],
    [
      'an end that is not a time',
      reported(cronPatch, { end_time: 'tomorrow' }),
      /^body\.end_time: must be a date and time such as 2026-12-31T00:00:00Z$/,
    ],
    ['a checkpoint', reported(threadHistorySearch, { before: 7 }), /^body\.before: .* expected string or object$/],
    [
      'a checkpoint in a configuration',
      reported(threadHistorySearch, { before: { configurable: { checkpoint_id: 7 } } }),
      /^body\.before\.configurable\.checkpoint_id: .* expected string/,
    ],
  ])('%s: the response lists what is allowed', (_, answers, sentence) => {
    expect(answers).toEqual([expect.stringMatching(sentence)]);
  });
});

test.each(['lg_name', 'graph', 'keyedByInterruptId'])('a command may have %s, which clients add', (field) => {
  expect(run({ command: { resume: 'yes', [field]: false } })).toEqual([]);
});

/** All schemas nested in a schema that allow several forms. */
function unionsIn(schema: z.core.$ZodType, path: string): { path: string; schema: z.ZodUnion }[] {
  if (schema instanceof z.ZodUnion) {
    const inner = schema.options.flatMap((option: z.core.$ZodType) => unionsIn(option, path));
    return [{ path, schema }, ...inner];
  }
  if (schema instanceof z.ZodObject)
    return Object.entries(schema.shape).flatMap(([key, field]: [string, z.core.$ZodType]) =>
      unionsIn(field, `${path}.${key}`),
    );
  if (schema instanceof z.ZodArray) return unionsIn(schema.element, `${path}[]`);
  if (schema instanceof z.ZodRecord) return unionsIn(schema.valueType, `${path}{}`);
  if (schema instanceof z.ZodPipe) return unionsIn(schema.in, path);
  const isWrapped =
    schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault;
  return isWrapped ? unionsIn(schema.unwrap(), path) : [];
}

const unions = operations.flatMap(({ body, path, query }) => [
  ...(body && 'schema' in body ? unionsIn(body.schema, path) : []),
  ...(query ? unionsIn(query, `${path}?`) : []),
]);

test('every validation error says what is expected', () => {
  const kinds = ['no such word', '', 7.5, -1, true, {}, { one: 1 }, [], [7], ['no such word', 7], [{}], [[]], null];
  expect(unions.length).toBeGreaterThan(30);
  const mute = unions.flatMap(({ path, schema }) =>
    kinds.flatMap((value) =>
      reported(schema, value)
        .filter((sentence) => /: (?:Invalid input(?:: expected)?)? *$|expected undefined/.test(sentence))
        .map((sentence) => `${path} ${JSON.stringify(value)}: ${sentence}`),
    ),
  );
  expect(mute).toEqual([]);
});

test.each([2 ** 53, 1e300])('tells one mistake of the page size %d', (limit) =>
  expect(reported(threadHistorySearch, { limit })).toEqual([expect.stringMatching(/^body\.limit: Too big/)]),
);
