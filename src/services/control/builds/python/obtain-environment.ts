import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PythonSource } from '../../../../agent-folder/packages/python/python-project.ts';
import { removeOrReport } from '../build-folder.ts';
import { stepFailed, succeeded, type StepResult } from '../build.ts';
import type { RunningBuild } from '../running-build.ts';
import { inFolderQueue } from '../folder-queue.ts';
import { keptPythonPackages } from '../made-lock.ts';
import { failure, type CommandEnd } from '../run-command.ts';
import { storeKey } from '../stored-install.ts';
import { environmentInputs } from './environment-inputs.ts';
import { listPackages } from './environment-scripts.ts';
import {
  environmentFolder,
  environmentName,
  freshEnvironment,
  listIn,
  noteUse,
  partsOf,
  readEnvironment,
  readList,
  recordEnvironment,
  type Environment,
} from './environment-store.ts';
import { installCommands, interpreterIn } from './install-commands.ts';
import type { Installer } from './installer.ts';
import { indexesOf } from './python-variables.ts';

/** What is installed, and for which source; real paths. */
export interface WantedEnvironment extends Installer {
  here: PythonSource;
  source: string;
  configFolder: string;
}

/** An environment with the packages of an agent, of which each revision gets one of its own. */
export interface SharedEnvironment extends Environment {
  name: string;
  folder: string;
}

const day = 86_400_000;

/** The environment with an agent's packages: one with the same inputs, or a new one (daily without a lock file). */
export async function obtainEnvironment(
  wanted: WantedEnvironment,
  running: RunningBuild,
): Promise<StepResult<SharedEnvironment>> {
  const { request, dataDir, clock, env } = running;
  const inputs = environmentInputs(wanted.plan, wanted.here);
  if (inputs.kind === 'more') {
    request.log('info', `These packages are not kept for later builds: ${inputs.why}.`);
    return obtain(ofBuild(running), wanted, running);
  }
  const { plan, interpreter, uv } = wanted;
  const chosen = plan.isLocked ? undefined : heldVersions(keptPythonPackages(dataDir, request.revisionId));
  const when = plan.isLocked ? 'locked' : (chosen ?? String(Math.floor(clock.now() / day)));
  const key = storeKey({
    command: [JSON.stringify({ ...plan, warnings: [] }), wanted.here.folder, when],
    managerVersion: uv === undefined ? 'pip' : 'uv',
    nodeVersion: `${interpreter.path} ${interpreter.version} ${interpreter.abi}`,
    platform: `${process.platform}-${process.arch}-${existsSync('/etc/alpine-release') ? 'musl' : 'libc'}`,
    registry: indexesOf(env),
    uid: request.user?.uid,
    files: inputs.files,
  });
  return obtain(key, wanted, running);
}

async function obtain(
  key: string,
  wanted: WantedEnvironment,
  running: RunningBuild,
): Promise<StepResult<SharedEnvironment>> {
  const { request, dataDir, signal } = running;
  const name = environmentName(request.tenantId, key);
  const folder = environmentFolder(dataDir, name);
  const found = await inFolderQueue(folder, signal, async (): Promise<StepResult<Environment> | 'of another build'> => {
    const there = readEnvironment(folder);
    const isOfBuild = key === ofBuild(running);
    if (there?.is_shared === false && !isOfBuild) return 'of another build';
    // What is of one build depends on more than its key says.
    if (there?.is_shared !== true || isOfBuild) return make(folder, wanted, running);
    request.log('info', 'An earlier build installed these packages: reusing them.');
    await noteUse(folder);
    return succeeded(there);
  });
  if (found === 'of another build') return obtain(ofBuild(running), wanted, running);
  if (found === undefined) return stepFailed('');
  return found.ok ? succeeded({ ...found.value, name, folder }) : found;
}

/** The key of an environment that no other build gets: it has files of its source. */
const ofBuild = ({ request }: RunningBuild): string => `of-${request.revisionId}`;

async function make(folder: string, wanted: WantedEnvironment, running: RunningBuild) {
  const { request, dataDir } = running;
  await freshEnvironment(dataDir, folder, request.user);
  const made = await fill(folder, wanted, running);
  if (made.ok) await recordEnvironment(folder, made.value);
  else await removeOrReport(folder, (message) => request.log('warning', message));
  return made;
}

async function fill(folder: string, wanted: WantedEnvironment, running: RunningBuild) {
  const { source } = wanted;
  const { request, run, giveSource } = running;
  const { environment, aside, files } = partsOf(folder);
  await giveSource();
  let failed = await install(environment, wanted, running);
  if (failed && wanted.fallsBackToPip === true && failed.end.kind === 'failed' && !failed.end.isLate) {
    request.log('warning', `${failure(failed.name, failed.end)} Trying pip.`);
    failed = await install(environment, { ...wanted, uv: undefined }, running);
  }
  if (failed) return failedBy(failed.name, failed.end);
  const args = ['-I', '-c', listPackages, aside, listIn(folder)];
  const listed = await run({ command: interpreterIn(environment), args, cwd: files, silent: true });
  if (listed.kind !== 'done') return failedBy('Listing the packages', listed);
  // Builds share it: what an agent changes in its packages must not reach another revision.
  const close = ['-R', 'a-w', '--', environment];
  const closed = await run({ command: 'chmod', args: close, cwd: files, silent: true });
  if (closed.kind !== 'done') return failedBy('Closing the environment', closed);
  const list = readList(folder);
  return list ? succeeded({ ...list, source }) : stepFailed('The installed packages could not be listed. Build again.');
}

/** Makes the environment with an agent's packages. @returns the command that failed. */
async function install(
  environment: string,
  { plan, interpreter, uv, source, configFolder }: WantedEnvironment,
  running: RunningBuild,
): Promise<{ name: string; end: Exclude<CommandEnd, { kind: 'done' }> } | undefined> {
  const constraints = plan.isLocked ? undefined : constraintsOf(running);
  const places = { source, configFolder, interpreter: interpreter.path, environment, uv, constraints };
  for (const { name, ...command } of installCommands(plan, places)) {
    running.request.log('info', `Installing: ${name} (${plan.reason})`);
    const end = await running.run(command);
    if (end.kind !== 'done') return { name, end };
  }
  return undefined;
}

const failedBy = (name: string, end: Exclude<CommandEnd, { kind: 'done' }>): StepResult<never> =>
  stepFailed(end.kind === 'failed' ? failure(name, end) : '');

/** Exact versions alone: an address is no constraint. */
const heldVersions = (requirements: string | undefined): string | undefined =>
  requirements
    ?.split('\n')
    .filter((line) => /^[\w.-]+==\S+$/.test(line))
    .join('\n');

/** A file with the versions that the first build of this revision chose, which its user may read. */
function constraintsOf({ dataDir, request, folder }: RunningBuild): string | undefined {
  const held = heldVersions(keptPythonPackages(dataDir, request.revisionId));
  if (held === undefined) return undefined;
  const file = join(folder.root, 'python-constraints.txt');
  writeFileSync(file, held, { mode: 0o644 });
  return file;
}
