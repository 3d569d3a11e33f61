import { expect, test } from 'vitest';
import { onCommandLine } from '../../src/cli/problems.ts';
import { inputProblem } from '../../src/deploy/file/inputs.ts';
import type { Problem } from '../../src/kit/diagnostics/problem.ts';

const ofInput = (field: string, message: string, missing?: string): Problem => ({
  ...inputProblem(field, message),
  ...(missing === undefined ? {} : { missing }),
});

test.each<[title: string, problem: Problem, file: string, message: string]>([
  ['an option', ofInput('wait', 'wait is true or false'), '--wait', 'wait is true or false'],
  ['a part of one', ofInput('smoke-tests[0].name', 'it is wrong'), '--smoke-tests', 'it is wrong'],
  ['a missing option', ofInput('', '`source` is missing', 'source'), '--source', '`source` is missing'],
  [
    'a missing option that has a variable',
    ofInput('base-url', 'base-url is missing', 'base-url'),
    '--base-url',
    'missing: set it, or LANDFALL_BASE_URL, or log in with landfall login',
  ],
  ['all options', ofInput('', '`name` is wrong'), 'options', '`name` is wrong'],
  ['an example', ofInput('name', 'write `name: a`'), '--name', 'write `--name a`'],
])('names %s', (_, problem, file, message) => {
  const shown = onCommandLine(problem);
  expect(shown).toMatchObject({ file, message });
  expect(shown).not.toHaveProperty('missing');
});
