import * as z from 'zod';
import { runStreamModes } from '../contract/agent/stream-event.ts';
import { duration } from './duration.ts';
import type { SmokeTest, Expectation, ValueTest } from './smoke-test.ts';
import { compilePath } from './json-path.ts';
import { schemaFaults } from './json-schema.ts';
import { compilePattern } from './pattern.ts';
import { compilable } from './ruled-text.ts';

const oneHour = 3_600_000;

const within = duration(1, oneHour);

/** Queries and patterns are checked when they are read, not after a deployment. */
const path = compilable(z.string(), compilePath);
const pattern = compilable(z.string(), compilePattern);

const jsonSchema = z.record(z.string(), z.unknown()).superRefine((schema, context) => {
  for (const { path: at, problem, suggestion } of schemaFaults(schema)) {
    context.addIssue({ code: 'custom', path: [...at], message: problem, params: { suggestion } });
  }
});

/** One item of `values` or `messages`: where to look, and one or more things that must hold there. */
const valueItem = z
  .strictObject({
    path,
    equals: z.unknown().optional(),
    contains: z.string().min(1).optional(),
    matches: pattern.optional(),
    schema: jsonSchema.optional(),
  })
  .refine((item) => Object.keys(item).some((key) => key !== 'path'), {
    message: 'must say what is expected there: `equals`, `contains`, `matches` or `schema`',
  });

type ValueItem = z.infer<typeof valueItem>;

function valueTests(item: ValueItem): ValueTest[] {
  const tests: ValueTest[] = [];
  if (item.equals !== undefined) tests.push({ kind: 'equals', value: item.equals });
  if (item.contains !== undefined) tests.push({ kind: 'contains', text: item.contains });
  if (item.matches !== undefined) tests.push({ kind: 'matches', pattern: item.matches });
  if (item.schema !== undefined) tests.push({ kind: 'schema', schema: item.schema });
  return tests;
}

const nodeNames = z.array(z.string().min(1)).min(1);

const nodes = z
  .strictObject({ 'in-order': nodeNames.optional(), include: nodeNames.optional() })
  .refine((written) => Object.keys(written).length > 0, { message: 'must have `in-order` or `include`' });

/** The expectations of a response in the file's format. A failed run is an error unless it is expected: see `status`. */
const writtenExpectations = z
  .strictObject({
    status: z.enum(['success', 'error', 'interrupted']).default('success'),
    values: z.array(valueItem).default([]),
    /** As `values`, with `$` standing for the list of messages. */
    messages: z.array(valueItem).default([]),
    nodes: nodes.optional(),
    'first-event-within': within.optional(),
    'total-within': within.optional(),
  })
  .transform((written): Expectation[] => [
    { kind: 'status', equals: written.status },
    ...written.values.flatMap((item) => valueTests(item).map((test) => expected(item.path, test))),
    ...written.messages.flatMap((item) => valueTests(item).map((test) => expected(inMessages(item.path), test))),
    ...visited('sequence', written.nodes?.['in-order']),
    ...visited('set', written.nodes?.include),
    ...soon('first-event', written['first-event-within']),
    ...soon('total', written['total-within']),
  ]);

const expected = (where: string, test: ValueTest): Expectation => ({ kind: 'value', path: where, test });

/** Outside of its texts, every `$` of a query stands for the whole, those within its filters too. */
const inMessages = (where: string): string =>
  where.replace(/'(?:\\.|[^'\\])*'?|"(?:\\.|[^"\\])*"?|\$/g, (part) => (part === '$' ? '$.messages' : part));

const visited = (order: 'sequence' | 'set', names: string[] | undefined): Expectation[] =>
  names === undefined ? [] : [{ kind: 'nodes', order, nodes: names }];

const soon = (kind: 'first-event' | 'total', withinMs: number | undefined): Expectation[] =>
  withinMs === undefined ? [] : [{ kind, withinMs }];

const defaultAttempts = 3;
const mostAttempts = 20;
const defaultTimeoutMs = 60_000;
const longestTimeoutMs = 1_800_000;

/** One smoke test as a person writes it. Three attempts of a minute each, stateless, unless it says otherwise. */
const writtenSmokeTest = z
  .strictObject({
    name: z.string().trim().min(1).max(200),
    assistant: z.string().trim().min(1),
    context: z.record(z.string(), z.unknown()).optional(),
    thread: z.boolean().default(false),
    input: z.unknown(),
    'stream-modes': z.array(z.enum(runStreamModes)).min(1).default(['updates', 'values']),
    expect: writtenExpectations.prefault({}),
    attempts: z.int().min(1).max(mostAttempts).default(defaultAttempts),
    timeout: duration(100, longestTimeoutMs).prefault(`${defaultTimeoutMs}ms`),
  })
  .transform(({ 'stream-modes': streamModes, timeout, context, ...same }): SmokeTest => ({
    ...same,
    ...(context === undefined ? {} : { context }),
    streamModes: [...new Set(streamModes)],
    timeoutMs: timeout,
  }));

const mostSmokeTests = 100;

/** Of all tests together: every one is stored and reported with what was seen. Aliases of YAML make many of few. */
const mostExpectations = 1_000;

/** The smoke tests of one deployment. Their names identify them in every report, so they are unique. */
export const writtenSmokeTests = z
  .array(writtenSmokeTest)
  .max(mostSmokeTests)
  .superRefine((tests, context) => {
    const seen = new Set<string>();
    for (const [index, { name }] of tests.entries()) {
      if (seen.has(name)) {
        context.addIssue({ code: 'custom', path: [index, 'name'], message: 'is the name of another smoke test too' });
      }
      seen.add(name);
    }
    const expectations = tests.reduce((sum, { expect }) => sum + expect.length, 0);
    if (expectations > mostExpectations) {
      const message = `must have at most ${mostExpectations} expectations in all tests together`;
      context.addIssue({ code: 'custom', message });
    }
  });
