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

const Environment = z.union([z.object({ python: z.string() }), z.object({ missing: z.string() })]);

/** The same for all files of a run: made when the first of them asks. */
async function askEnvironment(): Promise<z.infer<typeof Environment>> {
  const port: number | undefined = inject('pythonPort');
  if (port === undefined) throw new Error('A unit test has no Python. Name its file *.system.test.ts.');
  return Environment.parse(JSON.parse(await text(connect({ host: '127.0.0.1', port }))));
}

const environment = await askEnvironment();
const [python, options] =
  'python' in environment
    ? [environment.python, {}]
    : ['python', { skip: true, meta: { notRun: environment.missing } }];

/**
 * Describes tests that need Python with the packages of `python/requirements-dev.txt`. On a machine that can't have them
 * the tests are not run, which the end of the run says.
 *
 * @param body receives the path of the interpreter, for use inside its tests.
 */
export function describePython(title: string, body: (python: string) => void): void {
  describe(title, options, () => {
    body(python);
  });
}
