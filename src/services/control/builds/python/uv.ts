import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { stepFailed, succeeded, type StepResult } from '../build.ts';
import type { RunningBuild } from '../running-build.ts';
import { inFolderQueue } from '../folder-queue.ts';
import { failure } from '../run-command.ts';
import type { Interpreter } from './interpreter.ts';

/** Takes uv from the package index, unless an earlier build of the tenant and user did. @returns the program. */
export async function downloadUv(interpreter: Interpreter, running: RunningBuild): Promise<StepResult<string>> {
  const { env, signal, request } = running;
  if (!interpreter.makesEnvironments) return stepFailed('uv is not installed on this machine. Install it.');
  const folder = join(env.npm_config_cache ?? '', '_managers', 'uv');
  const program = join(folder, 'bin', 'uv');
  if (!existsSync(program)) request.log('info', 'Downloading uv from the Python package index.');
  const obtained = await inFolderQueue(folder, signal, () => obtain(interpreter, folder, running));
  if (obtained === undefined) return stepFailed('');
  if (!obtained.ok) return obtained;
  return succeeded(program);
}

/** Whether pip is told to look for packages elsewhere than in the public index: uv does not read that. */
export async function pipHasOwnIndex({ path }: Interpreter, { run, folder }: RunningBuild): Promise<boolean> {
  const args = ['-c', pipSettings, 'sh', path, join(folder.temporary, 'pip')];
  const end = await run({ command: '/bin/sh', args, cwd: folder.home, silent: true });
  return end.kind !== 'done' || end.output.some((line) => ownIndex.test(line));
}

/** Packages in folders, which variables name, are uv's to find too (`pythonVariables`). */
const ownIndex = /\.(?:index-url|extra-index-url|pypi-url|no-index)=|^(?!:env:).*\.find-links=/;

/** An interpreter may lack pip, which each environment has. */
const pipSettings = `"$1" -I -m pip config list 2>/dev/null && exit
"$1" -I -m venv "$2" && "$2/bin/python" -I -m pip config list; said=$?; rm -rf -- "$2"; exit $said`;

async function obtain({ path }: Interpreter, to: string, { run, folder }: RunningBuild) {
  if (existsSync(join(to, 'bin', 'uv'))) return succeeded(undefined);
  const temporary = join(folder.temporary, 'uv');
  const end = await run({
    command: '/bin/sh',
    args: ['-c', getUv, 'sh', path, temporary, to],
    cwd: folder.home,
    silent: true,
  });
  if (end.kind === 'done') return succeeded(undefined);
  return stepFailed(end.kind === 'failed' ? failure('Getting uv from the Python package index', end) : '');
}

/** uv is a program of its own: it needs nothing of what is installed beside it. An interpreter may lack pip, which environments have. */
const getUv = `rm -rf -- "$2" "$3"
"$1" -I -m pip install --only-binary=:all: --no-deps --target "$2" uv || {
  rm -rf -- "$2" && "$1" -I -m venv "$2" && "$2/bin/python" -I -m pip install --only-binary=:all: uv || exit 1
}
mkdir -p -- "$3/bin" && mv -- "$2/bin/uv" "$3/bin/new" && mv -- "$3/bin/new" "$3/bin/uv" && rm -rf -- "$2"`;
