import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PythonSource } from '../../../../agent-folder/packages/python/python-project.ts';
import { removeOrReport } from '../build-folder.ts';
import { stepFailed, succeeded, type StepResult } from '../build.ts';
import type { RunningBuild } from '../running-build.ts';
import { runInFolderQueue } from '../folder-queue.ts';
import { readPythonPackages } from '../generated-lock.ts';
import { describeFailure, type CommandEnd } from '../run-command.ts';
import { storeKey } from '../stored-install.ts';
import { environmentInputs } from './environment-inputs.ts';
import { listPackagesScript } from './environment-scripts.ts';
import {
  environmentFolder,
  environmentName,
  recreateEnvironmentFolder,
  listFile,
  recordUse,
  environmentPaths,
  readEnvironment,
  readList,
  recordEnvironment,
  type Environment,
} from './environment-store.ts';
import { installCommands, interpreterIn } from './install-commands.ts';
import type { Installer } from './installer.ts';
import { indexVariables } from './python-variables.ts';

/** The packages to install, and the source that needs them; real paths. */
export interface WantedEnvironment extends Installer {
  project: PythonSource;
  source: string;
  configFolder: string;
}

/** An environment with the packages of agents; each revision gets one of its own that refers to it. */
export interface SharedEnvironment extends Environment {
  name: string;
  folder: string;
}

const dayMs = 86_400_000;

/** Returns the environment with an agent's packages: an existing one of equal inputs, or a new one (daily without a lock). */
export async function obtainEnvironment(
  wanted: WantedEnvironment,
  running: RunningBuild,
): Promise<StepResult<SharedEnvironment>> {
  const { request, dataDir, clock, env } = running;
  const inputs = environmentInputs(wanted.plan, wanted.project);
  if (inputs.kind === 'more') {
    request.log('info', `These packages are not kept for later builds: ${inputs.reason}.`);
    return obtainByKey(ownKey(running), wanted, running);
  }
  const { plan, interpreter, uv } = wanted;
  const earlierVersions = plan.isLocked ? undefined : exactVersions(readPythonPackages(dataDir, request.revisionId));
  const versionsKey = plan.isLocked ? 'locked' : (earlierVersions ?? String(Math.floor(clock.now() / dayMs)));
  const key = storeKey({
    command: [JSON.stringify({ ...plan, warnings: [] }), wanted.project.folder, versionsKey],
    managerVersion: uv === undefined ? 'pip' : 'uv',
    nodeVersion: `${interpreter.path} ${interpreter.version} ${interpreter.abi}`,
    platform: `${process.platform}-${process.arch}-${existsSync('/etc/alpine-release') ? 'musl' : 'libc'}`,
    registry: indexVariables(env),
    uid: request.user?.uid,
    files: inputs.files,
  });
  return obtainByKey(key, wanted, running);
}

async function obtainByKey(
  key: string,
  wanted: WantedEnvironment,
  running: RunningBuild,
): Promise<StepResult<SharedEnvironment>> {
  const { request, dataDir, signal } = running;
  const name = environmentName(request.tenantId, key);
  const folder = environmentFolder(dataDir, name);
  const found = await runInFolderQueue(
    folder,
    signal,
    async (): Promise<StepResult<Environment> | 'of another build'> => {
      const existing = readEnvironment(folder);
      const isOfBuild = key === ownKey(running);
      if (existing?.is_shared === false && !isOfBuild) return 'of another build';
      // An environment of one build depends on files that its key does not cover: always create it again.
      if (existing?.is_shared !== true || isOfBuild) return createEnvironment(folder, wanted, running);
      request.log('info', 'An earlier build installed these packages: reusing them.');
      await recordUse(folder);
      return succeeded(existing);
    },
  );
  if (found === 'of another build') return obtainByKey(ownKey(running), wanted, running);
  if (found === undefined) return stepFailed('');
  return found.ok ? succeeded({ ...found.value, name, folder }) : found;
}

/** The key of an environment that only this build uses, because it depends on the build's source. */
const ownKey = ({ request }: RunningBuild): string => `of-${request.revisionId}`;

async function createEnvironment(folder: string, wanted: WantedEnvironment, running: RunningBuild) {
  const { request, dataDir } = running;
  await recreateEnvironmentFolder(dataDir, folder, request.user);
  const environment = await fillEnvironment(folder, wanted, running);
  if (environment.ok) await recordEnvironment(folder, environment.value);
  else await removeOrReport(folder, (message) => request.log('warning', message));
  return environment;
}

async function fillEnvironment(folder: string, wanted: WantedEnvironment, running: RunningBuild) {
  const { source } = wanted;
  const { request, run, giveSource } = running;
  const { environment, aside, files } = environmentPaths(folder);
  await giveSource();
  let failedCommand = await runInstallCommands(environment, wanted, running);
  if (
    failedCommand &&
    wanted.fallsBackToPip === true &&
    failedCommand.end.kind === 'failed' &&
    !failedCommand.end.isLate
  ) {
    request.log('warning', `${describeFailure(failedCommand.name, failedCommand.end)} Trying pip.`);
    failedCommand = await runInstallCommands(environment, { ...wanted, uv: undefined }, running);
  }
  if (failedCommand) return failedBy(failedCommand.name, failedCommand.end);
  const args = ['-I', '-c', listPackagesScript, aside, listFile(folder)];
  const listed = await run({ command: interpreterIn(environment), args, cwd: files, silent: true });
  if (listed.kind !== 'done') return failedBy('Listing the packages', listed);
  // Builds share it: an agent must not change the packages of another revision.
  const close = ['-R', 'a-w', '--', environment];
  const closed = await run({ command: 'chmod', args: close, cwd: files, silent: true });
  if (closed.kind !== 'done') return failedBy('Closing the environment', closed);
  const list = readList(folder);
  return list ? succeeded({ ...list, source }) : stepFailed('The installed packages could not be listed. Build again.');
}

/** Creates the environment with an agent's packages. @returns the command that failed, if any. */
async function runInstallCommands(
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
  stepFailed(end.kind === 'failed' ? describeFailure(name, end) : '');

/** The lines with exact versions: a URL can't be a constraint. */
const exactVersions = (requirements: string | undefined): string | undefined =>
  requirements
    ?.split('\n')
    .filter((line) => /^[\w.-]+==\S+$/.test(line))
    .join('\n');

/** Writes a file with the versions that the first build of this revision chose, for its user to read. */
function constraintsOf({ dataDir, request, folder }: RunningBuild): string | undefined {
  const versions = exactVersions(readPythonPackages(dataDir, request.revisionId));
  if (versions === undefined) return undefined;
  const file = join(folder.root, 'python-constraints.txt');
  writeFileSync(file, versions, { mode: 0o644 });
  return file;
}
