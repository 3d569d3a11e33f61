import type { Problem } from '../../kit/diagnostics/problem.ts';
import type { Inputs } from './input-table.ts';
import { inputProblem } from './inputs.ts';
import type { SmokeTest } from './smoke-test.ts';

/** Names that say what they hold. Keys of control services end so as well, and are refused where the file is read. */
const usualName = /_API_KEY$/i;

/**
 * The keys that graders may not have. Who may change the file may choose where a grader sends its key, so a variable
 * of the environment is one only by its name, or because the person who runs this lists it.
 */
export function graderKeyProblems(tests: readonly SmokeTest[], inputs: Inputs): Problem[] {
  const listed = new Set((inputs['grader-keys'] ?? '').split(/[\s,]+/).filter(Boolean));
  const isRefused = (key: string): boolean => !usualName.test(key) && !listed.has(key);
  return tests
    .filter(({ expect }) =>
      expect.some((each) => each.kind === 'graded' && each.grader.key !== undefined && isRefused(each.grader.key)),
    )
    .map(({ name }) => inputProblem('grader-keys', `smoke test \`${name}\`: ${refusedKey}`));
}

/** Without the name: a user may have written the key itself in its place. */
const refusedKey =
  'the `key` of its grader is not taken, because its name does not end in _API_KEY: rename the variable, or list it in `grader-keys`';
