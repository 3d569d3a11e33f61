import * as z from 'zod';
import { runStreamModes } from '../contract/agent/stream-event.ts';
import { duration } from './duration.ts';
import { graphConfigPathProblem } from '../contract/control/field-values.ts';
import { isObject } from '../contract/json-object.ts';
import { designTest, fewestTries, mostTries, smallestDrop } from '../sequential-test.ts';
import { measures, type Measure, type SmokeTest, type Series, type Expectation, type ValueTest } from './smoke-test.ts';
import { compilePath } from './json-path.ts';
import { schemaFaults } from './json-schema.ts';
import { compilePattern } from './pattern.ts';
import { compilable, ruled } from './ruled-text.ts';

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
    json: jsonSchema.optional(),
  })
  .refine((item) => Object.keys(item).some((key) => key !== 'path'), {
    message: 'must say what is expected there: `equals`, `contains`, `matches`, `schema` or `json`',
  });

type ValueItem = z.infer<typeof valueItem>;

function valueTests(item: ValueItem): ValueTest[] {
  const tests: ValueTest[] = [];
  if (item.equals !== undefined) tests.push({ kind: 'equals', value: item.equals });
  if (item.contains !== undefined) tests.push({ kind: 'contains', text: item.contains });
  if (item.matches !== undefined) tests.push({ kind: 'matches', pattern: item.matches });
  if (item.schema !== undefined) tests.push({ kind: 'schema', schema: item.schema });
  if (item.json !== undefined) tests.push({ kind: 'json', schema: item.json });
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
const defaultDrop = 0.3;
const mostAtOnce = 16;
const defaultAtOnce = 4;
const defaultLiveTries = 160;

/** From 1 to 100 points. */
const share = z.number().min(0.01).max(1, 'must be at most 1: write 0.9 for 90 %');

/** One smoke test as a person writes it. Three attempts of a minute each, stateless, unless it says otherwise. */
const writtenSmokeTest = z
  .strictObject({
    name: z.string().trim().min(1).max(200),
    assistant: z.string().trim().min(1),
    context: z.record(z.string(), z.unknown()).optional(),
    thread: z.boolean().default(false),
    input: z.unknown().optional(),
    cases: ruled(z.string(), graphConfigPathProblem).optional(),
    answer: path.optional(),
    'stream-modes': z.array(z.enum(runStreamModes)).min(1).default(['updates', 'values']),
    expect: writtenExpectations.prefault({}),
    attempts: z.int().min(1).max(mostAttempts).default(defaultAttempts),
    timeout: duration(100, longestTimeoutMs).prefault(`${defaultTimeoutMs}ms`),
    tries: z.int().min(1).max(mostTries).optional(),
    'pass-rate': z.union([share, z.literal('baseline')]).optional(),
    against: z.literal('live').optional(),
    'decide-by': z.array(z.enum(measures)).min(1).optional(),
    drop: share.optional(),
    'max-tries': z.int().min(1).max(mostTries).optional(),
    'tries-at-once': z.int().min(1).max(mostAtOnce).optional(),
  })
  .refine((test) => test.input !== undefined || test.cases !== undefined, {
    path: ['input'],
    message: 'is missing',
    // Reported together with what else is wrong with the fields.
    when: ({ value }) => isObject(value),
  })
  .superRefine((test, context) => {
    const { tries, drop = defaultDrop, 'pass-rate': passRate, against } = test;
    const refuse = (key: string, message: string): void => context.addIssue({ code: 'custom', path: [key], message });
    if (test.answer !== undefined && test.cases === undefined)
      refuse('answer', 'is for `cases`, which is missing here');
    if (against === undefined && test['decide-by'] !== undefined) {
      refuse('decide-by', 'is for `against: live`, which is missing here');
    }
    if (isAgainstLive(test)) {
      if (against !== undefined && passRate !== undefined) {
        refuse('pass-rate', 'has no meaning beside `against: live`, which takes the pass rate of the live revision');
      }
      if (test['max-tries'] !== undefined) refuse('max-tries', 'is for a `pass-rate` that is a number: write `tries`');
      return;
    }
    if (passRate === undefined) {
      for (const key of ['drop', 'max-tries'] as const) {
        if (test[key] !== undefined) refuse(key, 'is for a `pass-rate`, which is missing here');
      }
      if (tries === undefined && test['tries-at-once'] !== undefined) {
        refuse('tries-at-once', 'is for `tries` or a `pass-rate`, which are missing here');
      }
      return;
    }
    if (tries !== undefined) refuse('tries', 'has no meaning beside a `pass-rate`: write `max-tries` to limit it');
    if (typeof passRate === 'number' && drop >= passRate)
      refuse(
        test.drop === undefined ? 'pass-rate' : 'drop',
        `must leave a pass rate above 0, and a drop of ${drop} from ${passRate} does not`,
      );
  })
  // For editors; the rule itself is above.
  .meta({ allOf: [{ anyOf: [{ required: ['input'] }, { required: ['cases'] }] }] });
type WrittenSmokeTest = z.infer<typeof writtenSmokeTest>;

/** Whether the answers of the live revision are needed. */
const isAgainstLive = (test: {
  against?: 'live' | undefined;
  'pass-rate'?: number | 'baseline' | undefined;
}): boolean => test.against === 'live' || test['pass-rate'] === 'baseline';

/** Other nodes may be meant. */
const decidesByDefault: readonly Measure[] = ['pass-rate', 'first-event', 'total', 'tokens', 'cost'];

const toSmokeTest = (
  { name, assistant, thread, input, expect, attempts, timeout, context, 'stream-modes': modes }: WrittenSmokeTest,
  series: Series | undefined,
): SmokeTest => ({
  name,
  assistant,
  ...(context === undefined ? {} : { context }),
  thread,
  input,
  streamModes: [...new Set(modes)],
  expect,
  attempts,
  timeoutMs: timeout,
  ...(series === undefined ? {} : { series }),
});

/** How often a test is tried; the problem of one that can't come to a verdict. */
function readSeries(
  { tries, drop = defaultDrop, ...written }: WrittenSmokeTest,
  { tests, against, isFirstProblem }: { tests: number; against: number; isFirstProblem: () => boolean },
): { series?: Series; problem?: { key: string; message: string } } {
  const atOnce = written['tries-at-once'] ?? defaultAtOnce;
  const passRate = written['pass-rate'];
  if (isAgainstLive(written)) {
    const decideBy = passRate === 'baseline' ? (['pass-rate'] as const) : (written['decide-by'] ?? decidesByDefault);
    return { series: { kind: 'live', tries: tries ?? defaultLiveTries, drop, decideBy, tests: against, atOnce } };
  }
  if (passRate === undefined || passRate === 'baseline')
    return tries === undefined ? {} : { series: { kind: 'all-right', tries, atOnce } };
  const hypotheses = { passRate, drop, tests };
  const boundaries = designTest(hypotheses, written['max-tries']);
  if (!boundaries) {
    // Its search takes a tenth of a second, which is not spent for each of many tests.
    const least = isFirstProblem() ? smallestDrop(hypotheses) : undefined;
    const message = `must be ${least === undefined ? 'larger' : `at least ${least}`} to be found with ${mostTries} answers; or write \`max-tries\`, and accept a worse chance`;
    return { problem: { key: 'drop', message } };
  }
  const fewest = fewestTries(boundaries);
  if (boundaries.maxTries < Math.max(fewest.passed, fewest.failed)) {
    const enough = designTest(hypotheses)?.maxTries;
    const message = `must allow a verdict, which takes at least ${fewest.passed} answers to pass and ${fewest.failed} to fail.${enough ? ` ${enough} find this drop with 99 %.` : ''}`;
    return { problem: { key: 'max-tries', message } };
  }
  return { series: { kind: 'rate', ...hypotheses, boundaries, atOnce } };
}

/** All smoke tests of one deployment, those of its files of cases too. */
export const mostSmokeTests = 100;

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
  })
  .transform((tests, context): SmokeTest[] => {
    const rates = tests.filter((test) => typeof test['pass-rate'] === 'number').length;
    const against = tests.filter(isAgainstLive).length;
    const isFirstProblem = (): boolean => context.issues.length === 0;
    return tests.map((test, index) => {
      const { series, problem } = readSeries(test, { tests: rates, against, isFirstProblem });
      if (problem) context.addIssue({ code: 'custom', path: [index, problem.key], message: problem.message });
      return toSmokeTest(test, series);
    });
  });
