// Everything that must hold, one part after the other; all are run, and those that failed are named at the end.
//   npm run check                  format, lint, unused, types, python, dist, architecture, test
//   npm run check -- lint types    these only
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { outputs } from '../rolldown.config.ts';
import { buildInto } from './build.ts';
import { openPythonEnvironment } from './python-environment.ts';

const root = dirname(import.meta.dirname);

function node(...args: string[]): boolean {
  return spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' }).status === 0;
}

const vitest = (...args: string[]): boolean => node('node_modules/vitest/vitest.mjs', 'run', ...args);

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
async function isBuilt(): Promise<boolean> {
  const fresh = mkdtempSync(join(tmpdir(), 'landfall-build-'));
  try {
    await buildInto(fresh, 'action');
    const stale = differences('dist', contents(outputs(root).action), contents(outputs(fresh).action));
    if (stale.length > 0) console.error(`Out of date: ${stale.join(', ')}. Run: npm run build`);
    return stale.length === 0;
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
async function checkPython(): Promise<boolean> {
  const environment = await openPythonEnvironment();
  if ('missing' in environment) {
    notRun.push(`python (${environment.missing})`);
    return true;
  }
  const tools = ['ruff check', 'ruff format --check', 'mypy --python-version 3.10', 'mypy --python-version 3.14'];
  const folder = join(root, 'python');
  return tools
    .map((tool) => spawnSync(environment.python, ['-m', ...tool.split(' ')], { cwd: folder, stdio: 'inherit' }))
    .every(({ status }) => status === 0);
}

const parts: Record<string, () => boolean | Promise<boolean>> = {
  format: () => node('node_modules/prettier/bin/prettier.cjs', '--check', '--log-level=warn', '.'),
  lint: () => node('node_modules/oxlint/bin/oxlint', '--type-aware', '--deny-warnings'),
  unused: () => node('node_modules/knip/bin/knip.js'),
  types: () =>
    ['.', 'src/console']
      .map((project) => node('node_modules/typescript/bin/tsc', '--noEmit', '-p', project))
      .every(Boolean),
  python: checkPython,
  dist: isBuilt,
  architecture: () => vitest('test/architecture.test.ts'),
  test: () => vitest(),
};

const requested = process.argv.slice(2);
const unknown = requested.filter((name) => !(name in parts));
if (unknown.length > 0) {
  console.error(`No such part: ${unknown.join(', ')}. There are: ${Object.keys(parts).join(', ')}.`);
  process.exit(2);
}

const failed: string[] = [];
for (const [name, run] of Object.entries(parts)) {
  if (requested.length > 0 && !requested.includes(name)) continue;
  console.log(`== ${name}`);
  if (!(await run())) failed.push(name);
}
if (notRun.length > 0) console.log(`Not run: ${notRun.join(', ')}.`);
const others = notRun.length > 0 ? 'other ' : '';
console.log(failed.length === 0 ? `All ${others}checks passed.` : `Failed: ${failed.join(', ')}.`);
process.exit(failed.length === 0 ? 0 : 1);
