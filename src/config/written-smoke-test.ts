import * as z from 'zod';
import { runStreamModes } from '../contract/agent/stream-event.ts';
import { duration } from './duration.ts';
import type { SmokeTest } from './smoke-test.ts';
import { writtenExpectations } from './written-expectations.ts';

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
