import { expect, test } from 'vitest';
import {
  importOutcomeLine,
  importProblem,
  readImportOutcome,
  type ImportOutcome,
} from '../../../../src/agent-folder/packages/python/import-outcome.ts';

const failed = (code: string, type?: string): ImportOutcome => ({
  ok: false,
  code,
  type,
  message: 'It failed.',
  stack: '',
});

test.each<[string, ImportOutcome, string | undefined]>([
  ['an import that went well', { ok: true, graphs: ['a'] }, undefined],
  ['a variable that only the deployment has', failed('graph-threw', 'KeyError'), undefined],
  ['a key that only the deployment has', failed('graph-threw', 'OpenAIError'), undefined],
  ['rules that need such a key', failed('config-invalid', 'KeyError'), undefined],
  ['a package that is not installed', failed('graph-module-missing', 'ModuleNotFoundError'), 'It failed.'],
  ['a name that a package does not have', failed('graph-threw', 'ImportError'), 'It failed.'],
  ['a slip in the code', failed('graph-syntax', 'SyntaxError'), 'It failed.'],
  ['an export that is not there', failed('graph-export-missing'), 'It failed.'],
  ['rules that are not there', failed('config-invalid'), 'It failed.'],
])('%s', (_, outcome, problem) => expect(importProblem(outcome)).toBe(problem));

test('an outcome fits a line of a log, the end of its traceback kept', () => {
  const line = importOutcomeLine({ ...Object(failed('graph-threw', 'E')), stack: `${'frame\n'.repeat(2_000)}the end` });
  expect(line.length).toBeLessThan(10_000);
  expect(line).not.toContain('\n');
  expect(readImportOutcome(line)).toMatchObject({ ok: false, type: 'E', stack: expect.stringMatching(/the end$/) });
  expect(readImportOutcome('landfall-import {')).toBeUndefined();
  expect(readImportOutcome('hello')).toBeUndefined();
});
