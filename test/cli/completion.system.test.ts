import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { runHere } from './run-cli.ts';

/** What bash completes at the end of these words. */
async function completed(...words: string[]): Promise<string[]> {
  const { out: script } = await runHere(['completion', 'bash']);
  const asked = `${script}\nCOMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _landfall; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const printed = execFileSync('bash', ['-c', asked, 'bash', 'landfall', ...words], { encoding: 'utf8' });
  return printed.split('\n').filter(Boolean);
}

test.each([
  ['a command', ['sta'], ['status']],
  ['a command below another', ['secrets', 's'], ['set']],
  ['an option of its command', ['logs', '--fol'], ['--follow']],
  ['an option behind arguments', ['logs', 'support', '--json', '--si'], ['--since']],
  ['no option that the command lacks', ['list', '--fol'], []],
  ['none that the help hides', ['smoke', '--dry'], []],
])('bash completes %s', async (_, words, found) => {
  expect(await completed(...words)).toEqual(found);
});

test.each(['bash', 'zsh', 'fish'])('%s knows every command of the help', async (shell) => {
  const { out: help } = await runHere(['--help']);
  const { out: script } = await runHere(['completion', shell]);
  const commands = [...help.slice(help.indexOf('Commands:')).matchAll(/^ {2}([a-z]+) /gm)].map(([, name]) => name);
  expect(commands.length).toBeGreaterThan(20);
  expect(commands.filter((name) => name !== 'help' && !script.includes(name ?? ''))).toEqual([]);
});

test('another shell is refused', async () => {
  const { code, err } = await runHere(['completion', 'csh']);
  expect(code).toBe(2);
  expect(err).toContain('Allowed choices are bash, zsh, fish.');
});
