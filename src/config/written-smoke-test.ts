import * as z from 'zod';
import { runStreamModes } from '../contract/agent/stream-event.ts';
import { duration } from './duration.ts';
import { graphConfigPathProblem } from '../contract/control/field-values.ts';
import { isObject } from '../contract/json-object.ts';
import { writtenExpectations } from './written-expectations.ts';
import { missingOfGrader, withGrader, writtenGrader } from './written-grader.ts';
import { designTest, mostTries, smallestDrop, whyTooFew } from '../sequential-test.ts';
import { measures, type Measure, type SmokeTest, type Series } from './smoke-test.ts';
import { compilePath } from './json-path.ts';
import { compilable, ruled } from './ruled-text.ts';

/** Queries are checked when they are read, not after a deployment. */
const path = compilable(z.string(), compilePath);

const defaultAttempts = 3;
const mostAttempts = 20;
const defaultTimeoutMs = 60_000;
const longestTimeoutMs = 1_800_000;
const defaultDrop = 0.3;
const mostAtOnce = 16;
const defaultAtOnce = 4;
const defaultLiveTries = 160;
/** The exact tests of more would take minutes, and fewer could not show that an agent is no worse. */
const fewestLiveTries = 20;
const mostLiveTries = 200;

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
    'skip-unmapped': z.union([z.boolean(), z.array(z.string().min(1)).min(1)]).optional(),
    'stream-modes': z.array(z.enum(runStreamModes)).min(1).default(['updates', 'values']),
    expect: writtenExpectations.prefault({}),
    grader: writtenGrader.optional(),
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
    if (test['skip-unmapped'] !== undefined && test.cases === undefined)
      refuse('skip-unmapped', 'is for `cases`, which is missing here');
    // An expectation that is refused is none yet.
    const expectations = Array.isArray(test.expect) ? test.expect : [];
    for (const message of missingOfGrader(expectations, test.grader)) refuse('grader', message);
    if (against === undefined && test['decide-by'] !== undefined) {
      refuse('decide-by', 'is for `against: live`, which is missing here');
    }
    if (isAgainstLive(test)) {
      if (against !== undefined && passRate !== undefined) {
        refuse('pass-rate', 'has no meaning beside `against: live`, which takes the pass rate of the live revision');
      }
      if (test['max-tries'] !== undefined) refuse('max-tries', 'is for a `pass-rate` that is a number: write `tries`');
      if (tries !== undefined && (tries < fewestLiveTries || tries > mostLiveTries))
        refuse('tries', `is ${fewestLiveTries} to ${mostLiveTries} against live`);
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

/** How often a test is tried; the problem of one that can't come to a verdict. */
function readSeries(
  { tries, drop = defaultDrop, ...written }: WrittenSmokeTest,
  { tests, isFirstProblem }: { tests: number; isFirstProblem: () => boolean },
): { series?: Series; problem?: { key: string; message: string } } {
  const atOnce = written['tries-at-once'] ?? defaultAtOnce;
  const passRate = written['pass-rate'];
  if (isAgainstLive(written)) {
    const decideBy = passRate === 'baseline' ? (['pass-rate'] as const) : (written['decide-by'] ?? decidesByDefault);
    return { series: { kind: 'live', tries: tries ?? defaultLiveTries, drop, decideBy, tests, atOnce } };
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
  const message = whyTooFew(boundaries, hypotheses, boundaries.maxTries);
  if (message !== undefined) return { problem: { key: 'max-tries', message } };
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
    // Those that share the errors of one suite.
    const sharing = tests.filter((test) => test['pass-rate'] !== undefined || isAgainstLive(test)).length;
    const isFirstProblem = (): boolean => context.issues.length === 0;
    return tests.map((test, index) => {
      const { series, problem } = readSeries(test, { tests: sharing, isFirstProblem });
      if (problem) context.addIssue({ code: 'custom', path: [index, problem.key], message: problem.message });
      return toSmokeTest(test, series);
    });
  });
