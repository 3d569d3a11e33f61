import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commandCause, levelOf } from '../../../src/control-service/builds/command-cause.ts';
import { withoutControls } from '../../../src/contract/plain-text.ts';

/** Outputs that were recorded, with their causes. */
const recorded = readFileSync(join(import.meta.dirname, 'recorded-outputs.txt'), 'utf8')
  .split(/^=== /m)
  .slice(1)
  .map((text): [string, string, string] => {
    const [whole = '', cause = ''] = text.split('\n--- cause\n');
    const end = whole.indexOf('\n');
    return [whole.slice(0, end), whole.slice(end + 1), cause.trim()];
  });

/** What older programs and terminals print beside these. */
const others: [string, string, string][] = [
  [
    'an older npm',
    'npm ERR! code ENOTFOUND\nnpm ERR! syscall getaddrinfo\nnpm ERR! errno ENOTFOUND\nnpm ERR! request to https://registry.example.com/x failed, reason: getaddrinfo ENOTFOUND registry.example.com\nnpm ERR! A complete log of this run can be found in: /x.log',
    'request to https://registry.example.com/x failed, reason: getaddrinfo ENOTFOUND registry.example.com',
  ],
  [
    'pnpm without the package, in a terminal with thin spaces',
    'Progress: resolved 664, reused 0, downloaded 209\n\u2009ERR_PNPM_FETCH_404\u2009 GET https://registry.example/x.tgz: Not Found - 404\n\nNo authorization header was set for the request.',
    'ERR_PNPM_FETCH_404\u2009 GET https://registry.example/x.tgz: Not Found - 404',
  ],
  [
    'newer yarn that is used wrongly',
    "Usage Error: The project in /app/package.json doesn't seem to have been installed - running an install there might help\n\n$ yarn run",
    "Usage Error: The project in /app/package.json doesn't seem to have been installed - running an install there might help",
  ],
];

test.each([...recorded, ...others])('names the first cause of %s, and its level', (_, output, cause) => {
  const causes = commandCause();
  const lines = output.split('\n');
  for (const line of lines) causes.add(line);
  expect(causes.cause()).toBe(cause);
  const [beginning = ''] = cause.split('. ');
  const levels = lines.filter((line) => withoutControls(line).includes(beginning)).map((line) => levelOf(line, 'info'));
  expect(levels[0]).toBe('error');
});

test('joins the lines of a sentence that npm wraps', () => {
  const causes = commandCause();
  // Printed by npm 11.19.1 for `npm ci` in a package without a lock file.
  const output = `npm error code EUSAGE
npm error
npm error The \`npm ci\` command can only install with an existing package-lock.json or
npm error npm-shrinkwrap.json with lockfileVersion >= 1. Run an install with npm@5 or
npm error later to generate a package-lock.json file, then try again.
npm error
npm error Clean install a project`;
  for (const line of output.split('\n')) causes.add(line);
  expect(causes.cause()).toBe(
    'The `npm ci` command can only install with an existing package-lock.json or npm-shrinkwrap.json with ' +
      'lockfileVersion >= 1. Run an install with npm@5 or later to generate a package-lock.json file, then try again.',
  );
});

test('keeps a sentence of any length within 8,000 characters', () => {
  const causes = commandCause();
  for (let line = 0; line < 1_000; line += 1) causes.add(`npm error ${'word '.repeat(100)}`);
  expect(causes.cause()?.length).toBeLessThan(8_000);
});

test.each([
  ['npm warn deprecated inflight@1.0.6: leaks memory', 'warning'],
  ['warning " > ts-node@10.9.2" has unmet peer dependency "@types/node@*".', 'warning'],
  [' WARN  deprecated glob@7.2.3', 'warning'],
  ['added 32 packages in 12s', 'info'],
  ['➤ YN0013: │ left-pad can be found in the cache', 'info'],
  ['0 errors, 0 warnings', 'info'],
] as const)('gives %s the level %s', (line, level) => expect(levelOf(line, 'info')).toBe(level));
