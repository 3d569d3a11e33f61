import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { minorVersionOf } from '../../../../agent-folder/packages/python/python-versions.ts';
import { withoutUv, type PythonInstall } from '../../../../agent-folder/packages/python/python-plan.ts';
import { stepFailed, succeeded, type StepResult } from '../build.ts';
import type { RunningBuild } from '../running-build.ts';
import { findTool } from '../find-tool.ts';
import { runInFolderQueue } from '../folder-queue.ts';
import { describeFailure } from '../run-command.ts';
import {
  chooseInterpreter,
  parseInterpreters,
  describeArguments,
  interpreterPaths,
  namedInterpreters,
  targetMinor,
  type Interpreter,
  type WantedInterpreter,
} from './interpreter.ts';
import { hasIndexOnlyForUv } from './python-variables.ts';

/** A plan, and the programs that carry it out. */
export interface Installer {
  plan: PythonInstall;
  interpreter: Interpreter;
  /** The program uv; absent where pip installs. */
  uv: string | undefined;
  /** Whether the build tries again with pip if uv fails. */
  fallsBackToPip?: boolean;
}

/** Finds the interpreter for an agent, among those that the build's user can run. */
export async function findInterpreter(
  wanted: WantedInterpreter,
  running: RunningBuild,
): Promise<StepResult<Interpreter>> {
  const path = running.env.PATH ?? '';
  const minor = targetMinor(wanted);
  // Look for the version's own program first, and for others only without a match: shims of version managers are slow.
  const named = await describePaths(namedInterpreters(minor, path), running);
  if (!named.ok) return named;
  const match = named.value.find((each) => minorVersionOf(each.version) === minor && each.makesEnvironments);
  const all = match ? succeeded([match]) : await describePaths(interpreterPaths(path), running);
  if (!all.ok) return all;
  const choice = chooseInterpreter(all.value, wanted);
  if (choice.kind === 'none') return stepFailed(choice.reason);
  if (choice.warning !== undefined) running.warn(choice.warning);
  const { interpreter } = choice;
  running.request.log('info', `Using Python ${interpreter.version} (${interpreter.path}).`);
  return succeeded(interpreter);
}

async function describePaths(
  paths: readonly string[],
  { run, folder }: RunningBuild,
): Promise<StepResult<Interpreter[]>> {
  if (paths.length === 0) return succeeded([]);
  const end = await run({ command: '/bin/sh', args: describeArguments(paths), cwd: folder.home, silent: true });
  if (end.kind !== 'done') return stepFailed(end.kind === 'failed' ? describeFailure('Looking for Python', end) : '');
  return succeeded(parseInterpreters(end.output));
}

/**
 * Chooses uv or pip, and downloads uv from the package index if the machine has none. pip installs if the plan says so,
 * if uv is missing and pip has an index of its own, or if uv can't be downloaded.
 *
 * @param hasUvIndex whether the project configures an index that only uv reads.
 */
export async function findInstaller(
  plan: PythonInstall,
  interpreter: Interpreter,
  running: RunningBuild,
  hasUvIndex: boolean,
): Promise<StepResult<Installer>> {
  const { log } = running.request;
  const withPip = { plan, interpreter, uv: undefined };
  if (plan.installer === 'pip') return succeeded(withPip);
  const uv = findTool('uv', running.env.PATH ?? '');
  if (uv !== undefined) return succeeded({ plan, interpreter, uv });
  const mayUsePip = plan.installer === 'either' && interpreter.makesEnvironments && !hasUvIndex;
  if (mayUsePip && (await pipHasOwnIndex(interpreter, running))) {
    log('info', 'Using pip with the index that it is told of: uv is not installed on this machine.');
    return succeeded(withPip);
  }
  const isIndexOfUv = hasUvIndex || hasIndexOnlyForUv(running.env);
  const fallsBackToPip = mayUsePip && !isIndexOfUv;
  const downloaded = await downloadUv(interpreter, running);
  if (downloaded.ok) return succeeded({ plan, interpreter, uv: downloaded.value, fallsBackToPip });
  if (running.signal.aborted) return downloaded;
  if (fallsBackToPip) {
    log('info', `${downloaded.reason} Using pip.`);
    return succeeded(withPip);
  }
  if (isIndexOfUv) return stepFailed(`The package index is configured for uv alone. ${downloaded.reason}`);
  if (plan.locked?.isRequired === true || !interpreter.makesEnvironments)
    return stepFailed(`${plan.reason}. ${downloaded.reason}`);
  log('warning', `${downloaded.reason} Using pip.`);
  return succeeded({ plan: withoutUv(plan), interpreter, uv: undefined });
}

/** Downloads uv from the package index, unless an earlier build of the tenant and user did. @returns its path. */
async function downloadUv(interpreter: Interpreter, running: RunningBuild): Promise<StepResult<string>> {
  const { env, signal, request } = running;
  if (!interpreter.makesEnvironments) return stepFailed('uv is not installed on this machine. Install it.');
  const folder = join(env.npm_config_cache ?? '', '_managers', 'uv');
  const program = join(folder, 'bin', 'uv');
  if (!existsSync(program)) request.log('info', 'Downloading uv from the Python package index.');
  const obtained = await runInFolderQueue(folder, signal, () => obtainUv(interpreter, folder, running));
  if (obtained === undefined) return stepFailed('');
  return obtained.ok ? succeeded(program) : obtained;
}

/** Whether pip is configured for another index than the public one: uv does not read pip's settings. */
async function pipHasOwnIndex({ path }: Interpreter, { run, folder }: RunningBuild): Promise<boolean> {
  const args = ['-c', pipConfigScript, 'sh', path, join(folder.temporary, 'pip')];
  const end = await run({ command: '/bin/sh', args, cwd: folder.home, silent: true });
  return end.kind !== 'done' || end.output.some((line) => ownIndexSetting.test(line));
}

/** The settings of pip that name another index. `find-links` variables don't count: `pythonVariables` passes them to uv. */
const ownIndexSetting = /\.(?:index-url|extra-index-url|pypi-url|no-index)=|^(?!:env:).*\.find-links=/;

/** Prints pip's settings. An interpreter may lack pip, but every environment has it. */
const pipConfigScript = `"$1" -I -m pip config list 2>/dev/null && exit
"$1" -I -m venv "$2" && "$2/bin/python" -I -m pip config list; said=$?; rm -rf -- "$2"; exit $said`;

async function obtainUv({ path }: Interpreter, to: string, { run, folder }: RunningBuild) {
  if (existsSync(join(to, 'bin', 'uv'))) return succeeded(undefined);
  const temporary = join(folder.temporary, 'uv');
  const end = await run({
    command: '/bin/sh',
    args: ['-c', downloadUvScript, 'sh', path, temporary, to],
    cwd: folder.home,
    silent: true,
  });
  if (end.kind === 'done') return succeeded(undefined);
  return stepFailed(end.kind === 'failed' ? describeFailure('Getting uv from the Python package index', end) : '');
}

/**
 * Installs uv and keeps only its program, which needs no other file. An interpreter may lack pip, but every environment
 * has it.
 */
const downloadUvScript = `rm -rf -- "$2" "$3"
"$1" -I -m pip install --only-binary=:all: --no-deps --target "$2" uv || {
  rm -rf -- "$2" && "$1" -I -m venv "$2" && "$2/bin/python" -I -m pip install --only-binary=:all: uv || exit 1
}
mkdir -p -- "$3/bin" && mv -- "$2/bin/uv" "$3/bin/new" && mv -- "$3/bin/new" "$3/bin/uv" && rm -rf -- "$2"`;
