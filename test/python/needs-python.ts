/* oxlint-disable vitest/valid-title -- titles are the caller's */
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, inject } from 'vitest';
import * as z from 'zod';

declare module 'vitest' {
  interface TaskMeta {
    /** Why a test can't run on this machine; the run ends with the count and the names of these (`not-run-reporter.ts`). */
    notRun?: string;
  }
}

export const Environment = z.union([z.object({ python: z.string() }), z.object({ missing: z.string() })]);

/** What is the same for all files of a run: made when the first of them asks. */
export async function askRun<T>(name: 'pythonPort' | 'enginesPort', shape: z.ZodType<T>): Promise<T> {
  const port: number | undefined = inject(name);
  if (port === undefined) throw new Error('A unit test has no Python. Name its file *.system.test.ts.');
  return shape.parse(JSON.parse(await text(connect({ host: '127.0.0.1', port }))));
}

const environment = await askRun('pythonPort', Environment);

/**
 * Describes tests that need Python with the packages of `python/requirements-dev.txt`. On a machine that can't have them
 * the tests are not run, which the end of the run says.
 *
 * @param body receives the path of the interpreter, for use inside its tests.
 */
export function describePython(title: string, body: (python: string) => void): void {
  describeIn(environment, title, body);
}

/** Describes tests that need an environment, or says why they are not run. */
export function describeIn(made: z.infer<typeof Environment>, title: string, body: (python: string) => void): void {
  const [python, options] =
    'python' in made ? [made.python, {}] : ['python', { skip: true, meta: { notRun: made.missing } }];
  describe(title, options, () => {
    body(python);
  });
}
