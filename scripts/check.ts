// Everything that must hold: parts run side by side, each with its output together, and then the tests. Those that
// failed are named at the end.
//   npm run check                  format, lint, types, architecture, unused, python, dist, test
//   npm run check -- lint types    these only
import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { outputs } from '../rolldown.config.ts';
import { buildInto } from './build.ts';
import { openPythonEnvironment } from './python-environment.ts';

const root = dirname(import.meta.dirname);

/** Whether a part holds, and what it printed. */
interface Result {
  succeeded: boolean;
  output: string;
}

const run = (program: string, args: readonly string[], cwd = root): Promise<Result> =>
  new Promise((resolve) => {
    execFile(program, args, { cwd, maxBuffer: Infinity }, (error, stdout, stderr) =>
      resolve({ succeeded: error === null, output: stdout + stderr }),
    );
  });

const node = (...args: string[]): Promise<Result> => run(process.execPath, args);

const vitest = (...args: string[]): string[] => ['node_modules/vitest/vitest.mjs', 'run', ...args];

/** Runs programs side by side as one part. */
async function all(running: readonly Promise<Result>[]): Promise<Result> {
  const results = await Promise.all(running);
  return {
    succeeded: results.every(({ succeeded }) => succeeded),
    output: results.map(({ output }) => output).join(''),
  };
}

/** Every file below a folder with its content, by relative path. */
function contents(folder: string): Map<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(
    files.map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return [relative(folder, path), readFileSync(path, 'latin1')];
    }),
  );
}

/** The committed files of the Action are what the sources make, byte for byte. */
async function checkBuilt(): Promise<Result> {
  const fresh = mkdtempSync(join(tmpdir(), 'landfall-build-'));
  try {
    await buildInto(fresh, 'action');
    const stale = differences('dist', contents(outputs(root).action), contents(outputs(fresh).action));
    if (stale.length === 0) return { succeeded: true, output: '' };
    return { succeeded: false, output: `Out of date: ${stale.join(', ')}. Run: npm run build\n` };
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

function differences(folder: string, there: Map<string, string>, made: Map<string, string>): string[] {
  const names = new Set([...there.keys(), ...made.keys()]);
  return [...names].filter((name) => there.get(name) !== made.get(name)).map((name) => `${folder}/${name}`);
}

/** Parts that this machine can't run, and why. */
const notRun: string[] = [];

/** The worker's package has the types and the syntax of the oldest and of the newest Python. */
async function checkPython(): Promise<Result> {
  const environment = await openPythonEnvironment();
  if ('missing' in environment) {
    notRun.push(`python (${environment.missing})`);
    return { succeeded: true, output: '' };
  }
  const { python } = environment;
  const tools = ['ruff check', 'ruff format --check', 'mypy --python-version 3.10', 'mypy --python-version 3.14'];
  return all(tools.map((tool) => run(python, ['-m', ...tool.split(' ')], join(root, 'python'))));
}

/** Only what changed since the last time is checked again. */
function checkTypes(project: string): Promise<Result> {
  const known = join(root, 'node_modules/.cache/tsc', `${project.replaceAll('/', '-')}.json`);
  return node(
    'node_modules/typescript/bin/tsc',
    '--noEmit',
    '-p',
    project,
    '--incremental',
    '--tsBuildInfoFile',
    known,
  );
}

/** The longest first: they run side by side. */
const parts: Record<string, () => Promise<Result>> = {
  format: () => node('node_modules/prettier/bin/prettier.cjs', '--check', '--log-level=warn', '--cache', '.'),
  lint: () => node('node_modules/oxlint/bin/oxlint', '--type-aware', '--deny-warnings'),
  types: () => all(['.', 'src/console', 'scripts/guide/browser'].map(checkTypes)),
  architecture: () => node(...vitest('test/architecture.test.ts', 'test/docs.test.ts')),
  unused: () => node('node_modules/knip/bin/knip.js'),
  python: checkPython,
  dist: checkBuilt,
};

const requested = process.argv.slice(2);
const names = [...Object.keys(parts), 'test'];
const unknown = requested.filter((name) => !names.includes(name));
if (unknown.length > 0) {
  console.error(`No such part: ${unknown.join(', ')}. There are: ${names.join(', ')}.`);
  process.exit(2);
}
const isRequested = (name: string): boolean => requested.length === 0 || requested.includes(name);

const failed: string[] = [];
const waiting = Object.entries(parts).filter(([name]) => isRequested(name));
async function runParts(): Promise<void> {
  for (let next = waiting.shift(); next; next = waiting.shift()) {
    const [name, check] = next;
    const startedAt = performance.now();
    const { succeeded, output } = await check();
    console.log(`== ${name} (${((performance.now() - startedAt) / 1000).toFixed(1)} s)\n${output}`.trimEnd());
    if (!succeeded) failed.push(name);
  }
}
await Promise.all(Array.from({ length: availableParallelism() }, runParts));
// Alone: a busy machine makes tests slower. Its lines are shown as they come.
if (isRequested('test')) {
  console.log('== test');
  if (spawnSync(process.execPath, vitest(), { cwd: root, stdio: 'inherit' }).status !== 0) failed.push('test');
}
if (notRun.length > 0) console.log(`Not run: ${notRun.join(', ')}.`);
const others = notRun.length > 0 ? 'other ' : '';
console.log(failed.length === 0 ? `All ${others}checks passed.` : `Failed: ${failed.join(', ')}.`);
process.exit(failed.length === 0 ? 0 : 1);
