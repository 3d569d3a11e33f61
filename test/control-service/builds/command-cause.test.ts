import { expect, test } from 'vitest';
import { commandCause, levelOf } from '../../../src/control-service/builds/command-cause.ts';

/** What package managers and compilers print when they fail, and the line that says why. */
const outputs: [string, string, string][] = [
  [
    'npm ci with another lock file',
    'npm error code EUSAGE\nnpm error\nnpm error `npm ci` can only install packages when your package.json and package-lock.json or npm-shrinkwrap.json are in sync. Please update your lock file with `npm install` before continuing.\nnpm error\nnpm error Missing: left-pad@1.3.0 from lock file\nnpm error\nnpm error A complete log of this run can be found in: /home/.npm/_logs/x-debug-0.log',
    '`npm ci` can only install packages when your package.json and package-lock.json or npm-shrinkwrap.json are in sync. Please update your lock file with `npm install` before continuing.',
  ],
  [
    'npm without the package',
    'npm error code E404\nnpm error 404 Not Found - GET https://registry.example/no-such-thing - Not found\nnpm error 404\nnpm error A complete log of this run can be found in: /x.log',
    '404 Not Found - GET https://registry.example/no-such-thing - Not found',
  ],
  [
    'npm with a conflict of peers',
    'npm error code ERESOLVE\nnpm error ERESOLVE could not resolve\nnpm error\nnpm error While resolving: agent@1.0.0\nnpm error A complete log of this run can be found in: /x.log',
    'ERESOLVE could not resolve',
  ],
  [
    'npm with a failing script of a package',
    'npm error code 1\nnpm error path /app/node_modules/dep\nnpm error command failed\nnpm error command sh -c node make.js\nnpm error TypeError: no compiler\nnpm error     at main (make.js:1:1)\nnpm error A complete log of this run can be found in: /x.log',
    'TypeError: no compiler',
  ],
  [
    'an older npm',
    'npm ERR! code ENOTFOUND\nnpm ERR! syscall getaddrinfo\nnpm ERR! errno ENOTFOUND\nnpm ERR! request to https://registry.example.com/x failed, reason: getaddrinfo ENOTFOUND registry.example.com\nnpm ERR! A complete log of this run can be found in: /x.log',
    'request to https://registry.example.com/x failed, reason: getaddrinfo ENOTFOUND registry.example.com',
  ],
  [
    'npm run with tsc',
    "\n> agent@1.0.0 build\n> tsc\n\nsrc/graph.ts(3,7): error TS2322: Type 'string' is not assignable to type 'number'.\nsrc/graph.ts(9,1): error TS2304: Cannot find name 'x'.\nnpm error Lifecycle script `build` failed with error:\nnpm error code 2",
    "src/graph.ts(3,7): error TS2322: Type 'string' is not assignable to type 'number'.",
  ],
  [
    'tsc for a person',
    "src/graph.ts:3:7 - error TS2322: Type 'string' is not assignable to type 'number'.\n\n3 const x: number = '';\n        ~\n\nFound 1 error in src/graph.ts:3",
    "src/graph.ts:3:7 - error TS2322: Type 'string' is not assignable to type 'number'.",
  ],
  [
    'pnpm with another lock file',
    ' ERR_PNPM_OUTDATED_LOCKFILE  Cannot install with "frozen-lockfile" because pnpm-lock.yaml is not up to date with package.json\n\nNote that in CI environments this setting is true by default.',
    'ERR_PNPM_OUTDATED_LOCKFILE  Cannot install with "frozen-lockfile" because pnpm-lock.yaml is not up to date with package.json',
  ],
  [
    'pnpm without the package, in a terminal with thin spaces',
    'Progress: resolved 664, reused 0, downloaded 209\n\u2009ERR_PNPM_FETCH_404\u2009 GET https://registry.example/x.tgz: Not Found - 404\n\nNo authorization header was set for the request.',
    'ERR_PNPM_FETCH_404\u2009 GET https://registry.example/x.tgz: Not Found - 404',
  ],
  [
    'pnpm with a failing script',
    '> node make.js\n\nfile:///app/make.js:1\nthrow new RangeError("too far")\n^\n\nRangeError: too far\n    at file:///app/make.js:1:7\n\nNode.js v24.1.0\n ELIFECYCLE  Command failed with exit code 1.',
    'RangeError: too far',
  ],
  [
    'classic yarn with another lock file',
    'yarn install v1.22.22\n[1/4] Resolving packages...\nerror Your lockfile needs to be updated, but yarn was run with `--frozen-lockfile`.\ninfo Visit https://yarnpkg.com/en/docs/cli/install for documentation about this command.',
    'Your lockfile needs to be updated, but yarn was run with `--frozen-lockfile`.',
  ],
  [
    'classic yarn with another Node.js',
    'error pkg@1.0.0: The engine "node" is incompatible with this module. Expected version "18". Got "24.1.0"\nerror Found incompatible module.\ninfo Visit https://yarnpkg.com/en/docs/cli/install',
    'pkg@1.0.0: The engine "node" is incompatible with this module. Expected version "18". Got "24.1.0"',
  ],
  [
    'newer yarn with another lock file',
    '➤ YN0000: · Yarn 4.1.0\n➤ YN0000: ┌ Resolution step\n➤ YN0000: └ Completed\n➤ YN0000: ┌ Post-resolution validation\n➤ YN0028: │ The lockfile would have been modified by this install, which is explicitly forbidden.\n➤ YN0000: └ Completed\n➤ YN0000: · Failed with errors in 0s 120ms',
    'The lockfile would have been modified by this install, which is explicitly forbidden.',
  ],
  [
    'newer yarn that is used wrongly',
    "Usage Error: The project in /app/package.json doesn't seem to have been installed - running an install there might help\n\n$ yarn run",
    "Usage Error: The project in /app/package.json doesn't seem to have been installed - running an install there might help",
  ],
  [
    'bun with another lock file',
    'bun install v1.4.5\nResolving dependencies\nerror: lockfile had changes, but lockfile is frozen\nnote: try re-running without --frozen-lockfile and commit the updated lockfile',
    'error: lockfile had changes, but lockfile is frozen',
  ],
  [
    'node without a file',
    "node:internal/modules/cjs/loader:1228\n  throw err;\n  ^\n\nError: Cannot find module '/app/make.js'\n    at Module._resolveFilename (node:internal/modules/cjs/loader:1225:15) {\n  code: 'MODULE_NOT_FOUND',\n  requireStack: []\n}\n\nNode.js v24.1.0",
    "Error: Cannot find module '/app/make.js'",
  ],
  ['a program that is not there', '> agent@1.0.0 build\n> tsc\n\nsh: 1: tsc: not found', 'sh: 1: tsc: not found'],
  ['esbuild', '✘ [ERROR] Could not resolve "./lost"\n\n    src/graph.ts:1:7:', 'Could not resolve "./lost"'],
];

test.each(outputs)('names the first cause of %s, and its level', (_, output, cause) => {
  const causes = commandCause();
  const lines = output.split('\n');
  for (const line of lines) causes.add(line);
  expect(causes.cause()).toBe(cause);
  expect(lines.filter((line) => line.includes(cause)).map((line) => levelOf(line, 'info'))).toEqual(['error']);
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

test.each([
  ['npm warn deprecated inflight@1.0.6: leaks memory', 'warning'],
  ['warning " > ts-node@10.9.2" has unmet peer dependency "@types/node@*".', 'warning'],
  [' WARN  deprecated glob@7.2.3', 'warning'],
  ['added 32 packages in 12s', 'info'],
  ['➤ YN0013: │ left-pad can be found in the cache', 'info'],
  ['0 errors, 0 warnings', 'info'],
] as const)('gives %s the level %s', (line, level) => expect(levelOf(line, 'info')).toBe(level));
