import * as z from 'zod';
import { runStreamModes } from '../../contract/agent/stream-event.ts';
import { conversationsTest } from './smoke-test.ts';
import { duration, compilable, ruled } from './written-text.ts';
import { graphConfigPathProblem } from '../../contract/control/field-values.ts';
import { isObject } from '../../kit/json-object.ts';
import { writtenExpectations } from './written-expectations.ts';
import { missingOfGrader, withGrader, writtenGrader } from './written-grader.ts';
import { readSeries, seriesShape } from './written-series.ts';
import type { SmokeTest, Series } from './smoke-test.ts';
import { compilePath } from './json-path.ts';

/** Queries are checked when they are read, not after a deployment. */
const path = compilable(z.string(), compilePath);

const defaultAttempts = 3;
const maxAttempts = 20;
const defaultTimeoutMs = 60_000;
const maxTimeoutMs = 1_800_000;

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
    'skip-unmapped': z.union([z.boolean(), z.array(z.string().min(1)).min(1)]).optional(),
    'stream-modes': z.array(z.enum(runStreamModes)).min(1).default(['updates', 'values']),
    expect: writtenExpectations.prefault({}),
    grader: writtenGrader.optional(),
    attempts: z.int().min(1).max(maxAttempts).default(defaultAttempts),
    timeout: duration(100, maxTimeoutMs).prefault(`${defaultTimeoutMs}ms`),
    ...seriesShape,
  })
  .refine((test) => test.input !== undefined || test.cases !== undefined, {
    path: ['input'],
    message: 'is missing',
    // Reported together with what else is wrong with the fields.
    when: ({ value }) => isObject(value),
  })
  .superRefine(
    (test, context) => {
      const refuse = (key: string, message: string): void => context.addIssue({ code: 'custom', path: [key], message });
      for (const key of ['answer', 'skip-unmapped'] as const) {
        if (test[key] !== undefined && test.cases === undefined) refuse(key, 'is for `cases`, which is missing here');
      }
      // What is refused is no expectation and no grader yet.
      if (context.issues.some(({ path: [key] = [] }) => key === 'expect' || key === 'grader')) return;
      for (const message of missingOfGrader(test.expect, test.grader)) refuse('grader', message);
    },
    { when: ({ value }) => isObject(value) },
  )
  // For editors; the rule itself is above.
  .meta({ allOf: [{ anyOf: [{ required: ['input'] }, { required: ['cases'] }] }] });
type WrittenSmokeTest = z.infer<typeof writtenSmokeTest>;

const toSmokeTest = (
  {
    name,
    assistant,
    thread,
    input,
    expect,
    attempts,
    timeout,
    context,
    grader,
    'stream-modes': modes,
  }: WrittenSmokeTest,
  series: Series | undefined,
): SmokeTest => ({
  name,
  assistant,
  ...(context === undefined ? {} : { context }),
  thread,
  input,
  streamModes: [...new Set(modes)],
  expect: withGrader(expect, grader),
  attempts,
  timeoutMs: timeout,
  ...(series === undefined ? {} : { series }),
});

/** All smoke tests of one deployment, those of its files of cases too. */
export const maxSmokeTests = 100;

/** Of all tests together: every one is stored and reported with what was seen. Aliases of YAML make many of few. */
const maxExpectations = 1_000;

/** The smoke tests of one deployment. Their names identify them in every report, so they are unique. */
export const writtenSmokeTests = z
  .array(writtenSmokeTest)
  .max(maxSmokeTests)
  .superRefine(
    (tests, context) => {
      const seen = new Set<unknown>();
      // A test that is refused may be anything.
      for (const [index, test] of tests.entries()) {
        const name: unknown = isObject(test) ? test.name : undefined;
        const refuse = (message: string): void => context.addIssue({ code: 'custom', path: [index, 'name'], message });
        if (typeof name === 'string' && seen.has(name)) refuse('is the name of another smoke test too');
        if (name === conversationsTest) refuse('is the name under which `conversations` are reported');
        seen.add(name);
      }
      for (const [index, { problems }] of readSeries(tests).entries()) {
        for (const { key, message } of problems) context.addIssue({ code: 'custom', path: [index, key], message });
      }
    },
    { when: ({ value }) => Array.isArray(value) && value.length <= maxSmokeTests },
  )
  .superRefine((tests, context) => {
    const expectations = tests.reduce((sum, { expect }) => sum + expect.length, 0);
    if (expectations > maxExpectations) {
      const message = `must have at most ${maxExpectations} expectations in all tests together`;
      context.addIssue({ code: 'custom', message });
    }
  })
  .transform((tests): SmokeTest[] => {
    const series = readSeries(tests);
    return tests.map((test, index) => toSmokeTest(test, series[index]?.series));
  });
