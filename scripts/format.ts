// Formats every file; those in Python where it is there.
//   npm run format
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { openPythonEnvironment } from './python-environment.ts';

const root = dirname(import.meta.dirname);

function succeeds(program: string, args: readonly string[], cwd: string): boolean {
  return spawnSync(program, args, { cwd, stdio: 'inherit' }).status === 0;
}

const prettier = ['node_modules/prettier/bin/prettier.cjs', '--write', '.'];
const isFormatted = succeeds(process.execPath, prettier, root);
const environment = await openPythonEnvironment();
if ('missing' in environment) console.log(`Not formatted: python/ (${environment.missing}).`);
const isPythonFormatted =
  'missing' in environment || succeeds(environment.python, ['-m', 'ruff', 'format'], join(root, 'python'));
process.exit(isFormatted && isPythonFormatted ? 0 : 1);
