import * as z from 'zod';
import { duration, compilable } from './written-text.ts';
import { compilePath } from './json-path.ts';
import { schemaFaults } from './json-schema.ts';
import { compilePattern } from './pattern.ts';
import type { Expectation, UngradedExpectation, ValueTest } from './smoke-test.ts';
import { writtenTrajectory } from './written-trajectory.ts';

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

/** The most characters of a criterion, and of a text that answers are compared with. */
const maxGradedLength = 10_000;

/** One item of `values` or `messages`: where to look, and one or more things that must hold there. */
const valueItem = z
  .strictObject({
    path,
    equals: z.unknown().optional(),
    contains: z.string().min(1).optional(),
    matches: pattern.optional(),
    schema: jsonSchema.optional(),
    json: jsonSchema.optional(),
    'contains-json': jsonSchema.optional(),
    'similar-to': z.string().min(1).max(maxGradedLength).optional(),
    by: z.enum(['characters', 'meaning']).optional(),
    'at-least': z.number().min(0).max(1, 'must be at most 1: write 0.8 for 80 %').optional(),
    judge: z.string().trim().min(1).max(maxGradedLength).optional(),
    decides: z.boolean().optional(),
  })
  .superRefine((item, context) => {
    const refuse = (message: string, ...key: string[]): void =>
      context.addIssue({ code: 'custom', path: key, message });
    const { judge, decides, by, 'similar-to': similar, 'at-least': atLeast, path: where, ...exact } = item;
    if (judge === undefined && similar === undefined && Object.keys(exact).length === 0) {
      refuse(
        'must say what is expected there: `equals`, `contains`, `matches`, `schema`, `json`, `contains-json`, `similar-to` or `judge`',
      );
    }
    if (similar === undefined) {
      if (by !== undefined) refuse('is for `similar-to`, which is missing here', 'by');
      if (atLeast !== undefined) refuse('is for `similar-to`, which is missing here', 'at-least');
    }
    const compiled = compilePath(where);
    if ((judge !== undefined || by === 'meaning') && compiled.ok && !compiled.query.singularQuery()) {
      // Nothing is searched, which would take time before the answer is judged in a thread of its own.
      refuse('must name one place, without `*`, `..`, slices and filters, for what a model grades', 'path');
    }
    if (decides !== undefined && judge === undefined && by !== 'meaning') {
      refuse('is for what a model grades: `judge`, or `similar-to` with `by: meaning`', 'decides');
    }
  });

const defaultSimilarity = 0.8;

/** What is expected, before the grader of the test is known. */
export type WrittenExpectation = Exclude<Expectation, { kind: 'graded' }> | UngradedExpectation;

type ValueItem = z.infer<typeof valueItem>;

function valueTests(item: ValueItem): ValueTest[] {
  const tests: ValueTest[] = [];
  if (item.equals !== undefined) tests.push({ kind: 'equals', value: item.equals });
  if (item.contains !== undefined) tests.push({ kind: 'contains', text: item.contains });
  if (item.matches !== undefined) tests.push({ kind: 'matches', pattern: item.matches });
  if (item.schema !== undefined) tests.push({ kind: 'schema', schema: item.schema });
  if (item.json !== undefined) tests.push({ kind: 'json', schema: item.json });
  const contained = item['contains-json'];
  if (contained !== undefined) tests.push({ kind: 'contains-json', schema: contained });
  const text = item['similar-to'];
  if (text !== undefined && item.by !== 'meaning') {
    tests.push({ kind: 'similar', text, atLeast: item['at-least'] ?? defaultSimilarity });
  }
  return tests;
}

/** What a model grades of one item. */
function gradings(item: ValueItem): UngradedExpectation[] {
  const graded: UngradedExpectation[] = [];
  const { path: where, decides = false, 'similar-to': text, 'at-least': atLeast = defaultSimilarity } = item;
  const add = (grading: UngradedExpectation['grading']): void => {
    graded.push({ kind: 'graded', path: where, grading, decides });
  };
  if (text !== undefined && item.by === 'meaning') add({ kind: 'meaning', text, atLeast });
  if (item.judge !== undefined) add({ kind: 'judge', criterion: item.judge });
  return graded;
}

const itemExpectations = (item: ValueItem): WrittenExpectation[] => [
  ...valueTests(item).map((test) => ({ kind: 'value' as const, path: item.path, test })),
  ...gradings(item),
];

const nodeNames = z.array(z.string().min(1)).min(1);

const nodes = z
  .strictObject({ 'in-order': nodeNames.optional(), include: nodeNames.optional() })
  .refine((written) => Object.keys(written).length > 0, { message: 'must have `in-order` or `include`' });

/** The expectations of a response in the file's format. A failed run is an error unless it is expected: see `status`. */
export const writtenExpectations = z
  .strictObject({
    status: z.enum(['success', 'error', 'interrupted']).default('success'),
    values: z.array(valueItem).default([]),
    /** As `values`, with `$` standing for the list of messages. */
    messages: z.array(valueItem).default([]),
    nodes: nodes.optional(),
    trajectory: writtenTrajectory.optional(),
    'first-event-within': within.optional(),
    'total-within': within.optional(),
  })
  .transform((written): WrittenExpectation[] => [
    { kind: 'status', equals: written.status },
    ...written.values.flatMap(itemExpectations),
    ...written.messages.flatMap((item) => itemExpectations({ ...item, path: inMessages(item.path) })),
    ...(written.trajectory ? [written.trajectory] : []),
    ...visited('sequence', written.nodes?.['in-order']),
    ...visited('set', written.nodes?.include),
    ...soon('first-event', written['first-event-within']),
    ...soon('total', written['total-within']),
  ]);

/** Outside of its texts, every `$` of a query stands for the whole, those within its filters too. */
const inMessages = (where: string): string =>
  where.replace(/'(?:\\.|[^'\\])*'?|"(?:\\.|[^"\\])*"?|\$/g, (part) => (part === '$' ? '$.messages' : part));

const visited = (order: 'sequence' | 'set', names: string[] | undefined): WrittenExpectation[] =>
  names === undefined ? [] : [{ kind: 'nodes', order, nodes: names }];

const soon = (kind: 'first-event' | 'total', withinMs: number | undefined): WrittenExpectation[] =>
  withinMs === undefined ? [] : [{ kind, withinMs }];
