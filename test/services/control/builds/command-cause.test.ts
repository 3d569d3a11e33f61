import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commandCause, levelOf } from '../../../../src/services/control/builds/command-cause.ts';
import { withoutControls } from '../../../../src/kit/plain-text.ts';

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
    'pnpm without a file that its settings name',
    "Scope: all 6 workspace projects\n\u2009ENOENT\u2009 ENOENT: no such file or directory, open '/app/patches/x@1.4.3.patch'\npnpm: ENOENT: no such file or directory, open '/app/patches/x@1.4.3.patch'\n    at async open (node:internal/fs/promises:1345:25)",
    "ENOENT: no such file or directory, open '/app/patches/x@1.4.3.patch'",
  ],
  [
    'pnpm without a network',
    'Scope: all 6 workspace projects\n WARN  GET https://registry.example/x error (EAI_AGAIN). Will retry in 10 seconds. 2 retries left.\n EAI_AGAIN  request to https://registry.example/x failed, reason: getaddrinfo EAI_AGAIN registry.example',
    'EAI_AGAIN  request to https://registry.example/x failed, reason: getaddrinfo EAI_AGAIN registry.example',
  ],
  [
    'pnpm with a failing script of a package, after one of an optional package',
    'Progress: resolved 9, reused 0, downloaded 9, added 9, done\n.../node_modules/ssh install$ node install.js\n.../node_modules/ssh install: Error: no compiler\n.../node_modules/ssh install: Failed\napps/agent postinstall$ prisma generate\napps/agent postinstall: Loading\napps/agent postinstall: Error: request to https://binaries.example failed, reason: getaddrinfo ENOTFOUND binaries.example\napps/agent postinstall: Failed\n\u2009ELIFECYCLE\u2009 Command failed with exit code 1.',
    'Error: request to https://binaries.example failed, reason: getaddrinfo ENOTFOUND binaries.example',
  ],
  [
    'npm with a script that says what it needs in its own words',
    'npm error code 1\nnpm error path /app/node_modules/dep\nnpm error command failed\nnpm error command sh -c node make.js\nnpm error this library needs CUDA 12\nnpm error A complete log of this run can be found in: /x.log',
    'this library needs CUDA 12',
  ],
  [
    'Vite',
    'vite v7.1.0 building for production...\nerror during build:\nRollupError: Could not resolve "./lost" from "src/main.ts"\n    at getRollupError (x.js:1:1)',
    'RollupError: Could not resolve "./lost" from "src/main.ts"',
  ],
  [
    'pip with versions for another Python alone',
    'ERROR: Ignored the following versions that require a different python version: 2.0 Requires-Python >=3.13\nERROR: Could not find a version that satisfies the requirement thing==2.0 (from versions: 1.0)\nERROR: No matching distribution found for thing==2.0',
    'Ignored the following versions that require a different python version: 2.0 Requires-Python >=3.13. No matching distribution found for thing==2.0',
  ],
  [
    'pip with a conflict',
    'ERROR: Cannot install a==1 and b==2 because these package versions have conflicting dependencies.\n\nThe conflict is caused by:\n    a 1 depends on c==1\n    b 2 depends on c==2\n\nTo fix this you could try to:\nERROR: ResolutionImpossible: for help visit https://index.example',
    'Cannot install a==1 and b==2 because these package versions have conflicting dependencies. a 1 depends on c==1. b 2 depends on c==2',
  ],
  [
    'pip with a package that needs a compiler',
    "  error: subprocess-exited-with-error\n  \n  × Building wheel for fast (pyproject.toml) did not run successfully.\n  │ exit code: 1\n  ╰─> [3 lines of output]\n      running build_ext\n      error: command 'gcc' failed: No such file or directory\n      [end of output]\n  ERROR: Failed building wheel for fast\nERROR: Could not build wheels for fast",
    "Building wheel for fast (pyproject.toml) did not run successfully. error: command 'gcc' failed: No such file or directory",
  ],
  [
    'an older uv without the version',
    '  × No solution found when resolving dependencies:\n  ╰─▶ Because there is no version of a==9, your requirements are unsatisfiable.',
    'No solution found when resolving dependencies:. Because there is no version of a==9, your requirements are unsatisfiable.',
  ],
  [
    'tests that name the code of a full disk',
    "tests: handles ENOSPC ok\nsrc/a.ts(1,1): error TS2304: Cannot find name 'x'.",
    "src/a.ts(1,1): error TS2304: Cannot find name 'x'.",
  ],
  [
    'too many file watchers',
    "Error: ENOSPC: System limit for number of file watchers reached, watch '/app'",
    "Error: ENOSPC: System limit for number of file watchers reached, watch '/app'",
  ],
  [
    'newer yarn without a network',
    '➤ YN0000: ┌ Fetch step\n➤ YN0080: │ left-pad@npm:1.3.0: Request to https://registry.example has been blocked because of your configuration settings\n➤ YN0000: · Failed with errors in 0s 90ms',
    'left-pad@npm:1.3.0: Request to https://registry.example has been blocked because of your configuration settings',
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

test('names the last words of a script that pnpm ran, where none is known for an error', () => {
  const causes = commandCause();
  const output = `apps/agent prepare$ make
apps/agent prepare: the table is missing
apps/agent prepare: Failed
 ELIFECYCLE  Command failed with exit code 2.`;
  for (const line of output.split('\n')) causes.add(line);
  expect(causes.cause()).toBe('the table is missing');
});

test('names a package index that could not be reached, which pip reports as one without the package', () => {
  const causes = commandCause();
  // Printed by pip 23.2.1.
  const output = `WARNING: Retrying (Retry(total=0, connect=None, read=None, redirect=None, status=None)) after connection broken by 'ProxyError('Cannot connect to proxy.', NewConnectionError('<pip._vendor.urllib3.connection.HTTPSConnection object at 0x7f1ad76b8810>: Failed to establish a new connection: [Errno 111] Connection refused'))': /simple/leftpadx/
ERROR: Could not find a version that satisfies the requirement leftpadx (from versions: none)
ERROR: No matching distribution found for leftpadx`;
  for (const line of output.split('\n')) causes.add(line);
  expect(causes.cause()).toBe('The package index could not be reached: [Errno 111] Connection refused');
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
