/** Python for the tests and checks of `python/`: an environment with pinned packages, made once below `.venv/`. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import * as z from 'zod';
import { messageOf } from '../src/kit/errors.ts';

/** An interpreter with the packages of `python/requirements-dev.txt`, or why there is none. */
export type PythonEnvironment = { python: string } | { missing: string };

/** The engines before that of `python/requirements-dev.txt` with which the worker is tested. */
export const olderEngines: readonly string[] = ['0.6', '1.0', '1.1'];

interface EnvironmentOptions {
  /** The folder of the environments that were made. */
  environments?: string;
  /** A file of `python/` whose packages are added, or take the place of others: `engine-0.6`, for example. */
  changes?: string | undefined;
}

const root = dirname(import.meta.dirname);

/** `python` may be version 2, and `python3` older than another one beside it. */
const names = ['python3', 'python', ...[14, 13, 12, 11, 10].map((minor) => `python3.${minor}`)];

const facts = `
import importlib.util, json, platform, sys
print(json.dumps({"path": sys.executable, "version": platform.python_version(), "isNew": sys.version_info >= (3, 10),
  "makesEnvironments": importlib.util.find_spec("ensurepip") is not None}))`;
const Interpreter = z.object({
  path: z.string(),
  version: z.string(),
  isNew: z.boolean(),
  makesEnvironments: z.boolean(),
});
type Interpreter = z.infer<typeof Interpreter>;

/** Says why there is no environment. */
class Missing extends Error {}

/**
 * Finds the environment, or makes it: in a minute where pip reaches its index; where it doesn't, that is known within
 * seconds. Two runs don't disturb each other: each makes its own, and the first moves it to where both look for it.
 *
 * One that no run has opened for a day is removed once another one is made.
 */
export async function openPythonEnvironment({
  environments = join(root, '.venv'),
  changes,
}: EnvironmentOptions = {}): Promise<PythonEnvironment> {
  try {
    const interpreter = await findInterpreter();
    const pinned = await pinnedPackages(changes);
    const parts = [interpreter.path, interpreter.version, pinned];
    const key = createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 12);
    const folder = join(environments, key);
    if (existsSync(pythonIn(folder))) await utimes(folder, new Date(), new Date());
    else await makeEnvironment(interpreter, folder, { pinned, changes });
    return { python: pythonIn(folder) };
  } catch (error) {
    return { missing: error instanceof Missing ? error.message : `no environment can be made: ${messageOf(error)}` };
  }
}

/** The packages with their versions, as pip reads them. */
async function pinnedPackages(changes: string | undefined): Promise<string> {
  const read = (name: string) => readFile(join(root, `python/requirements-${name}.txt`), 'utf8');
  const all = await read('dev');
  if (changes === undefined) return all;
  const changed = await read(changes);
  const names = new Set(Array.from(changed.matchAll(/^(\S+)==/gm), ([, name]) => name));
  const kept = all.split('\n').filter((line) => !names.has(line.split('==')[0]));
  return `${kept.join('\n')}\n${changed}`;
}

async function findInterpreter(): Promise<Interpreter> {
  let best: Interpreter | undefined;
  for (const name of names) {
    const found = await inspect(name);
    if (found?.isNew && found.makesEnvironments) return found;
    if (!best?.isNew) best = found ?? best;
  }
  if (best?.isNew)
    throw new Missing(`${best.path} lacks "ensurepip", which Debian and Ubuntu have in the package python3-venv`);
  throw new Missing(`Python 3.10 or later is not on the PATH${best ? `, only Python ${best.version}` : ''}`);
}

/** What an interpreter says of itself; undefined where there is none of that name, or none of Python 3. */
async function inspect(name: string): Promise<Interpreter | undefined> {
  try {
    return Interpreter.parse(JSON.parse(await run(name, ['-I', '-c', facts], 30_000)));
  } catch {
    return undefined;
  }
}

async function makeEnvironment(
  { path, version }: Interpreter,
  folder: string,
  { pinned, changes }: { pinned: string; changes: string | undefined },
): Promise<void> {
  const [, small] = /^(iniconfig==\S+)$/m.exec(pinned) ?? [];
  if (small === undefined) throw new Error('The package that is tried first is not among the pinned ones.');
  const environments = dirname(folder);
  await mkdir(environments, { recursive: true });
  const beside = await mkdtemp(join(environments, 'new-'));
  try {
    await chmod(beside, 0o755);
    await run(path, ['-I', '-m', 'venv', beside], 120_000);
    const install = (options: readonly string[], timeoutMs: number) =>
      run(pythonIn(beside), ['-I', '-m', 'pip', 'install', ...pipOptions, ...options], timeoutMs);
    // With what it usually does about an index that is away, pip would be at it for minutes.
    await install(['--retries=0', '--timeout=5', '--no-deps', small], 20_000).catch((error: unknown) => {
      throw new Missing(`pip gets no package from its index: ${messageOf(error)}`);
    });
    const files = `python/requirements-${changes === undefined ? '' : `${changes}.txt and `}dev.txt`;
    console.error(`Installing the packages of ${files} for Python ${version} ...`);
    const requirements = join(beside, 'requirements.txt');
    await writeFile(requirements, pinned);
    // The list has all that they need, and the tools among them may want a newer engine.
    await install([...(changes === undefined ? [] : ['--no-deps']), '-r', requirements], 600_000);
    await rename(beside, folder).catch((error: unknown) => {
      // Another run was quicker.
      if (!existsSync(pythonIn(folder))) throw error;
    });
    await removeOld(environments);
  } finally {
    await rm(beside, { recursive: true, force: true });
  }
}

const pipOptions = ['--quiet', '--no-input', '--disable-pip-version-check', '--only-binary=:all:'];

/** Removes those of former versions, and what killed runs left; not what another run may be making. */
async function removeOld(environments: string): Promise<void> {
  for (const path of readdirSync(environments).map((name) => join(environments, name))) {
    const made = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Infinity;
    if (Date.now() - made > 24 * 3600 * 1000) await rm(path, { recursive: true, force: true });
  }
}

const pythonIn = (folder: string): string =>
  process.platform === 'win32' ? join(folder, 'Scripts', 'python.exe') : join(folder, 'bin', 'python');

/** Runs a program for its output. @throws Missing with the last thing that it said */
async function run(program: string, args: readonly string[], timeoutMs: number): Promise<string> {
  // A setting of people's pip that an environment does not allow.
  const env = { ...process.env, PIP_USER: '0' };
  try {
    const options = { cwd: root, env, timeout: timeoutMs, killSignal: 'SIGKILL' } as const;
    return (await promisify(execFile)(program, args, options)).stdout;
  } catch (error) {
    const { killed, stdout, stderr } = Failure.parse(error);
    if (killed) throw new Missing(`no end within ${timeoutMs / 1000} s`);
    const lines = `${stdout}\n${stderr}`.split('\n').filter((line) => line.trim() !== '');
    const said = lines.findLast((line) => line.startsWith('ERROR:')) ?? lines.at(-1) ?? messageOf(error);
    throw new Missing(said.replace(/^ERROR: /, ''));
  }
}

const Failure = z.object({ killed: z.boolean().default(false), stdout: z.string(), stderr: z.string() });
