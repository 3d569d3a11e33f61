import { join, posix, relative, sep } from 'node:path';
import { pathInFolder } from '../../../../agent-folder/packages/install-plan.ts';
import { pythonEngine, pythonEngineProblem } from '../../../../agent-folder/packages/python/python-versions.ts';
import {
  hasUvIndex,
  lockedPythonEngineProblem,
  planPython,
  type PythonInstall,
} from '../../../../agent-folder/packages/python/python-plan.ts';
import { requiredPython } from '../../../../agent-folder/packages/python/pyproject.ts';
import { pythonSource, type PythonSource } from '../../../../agent-folder/packages/python/python-project.ts';
import { fieldName } from '../../../../kit/diagnostics/problem.ts';
import type { GraphConfig } from '../../../../agent-folder/graph-config/schema.ts';
import { stepFailed, succeeded, type PythonEnvironment, type StepResult } from '../build.ts';
import type { RunningBuild } from '../running-build.ts';
import { keepPythonPackages } from '../generated-lock.ts';
import { describeFailure } from '../run-command.ts';
import { listPackagesScript, placeEnvironmentScript } from './environment-scripts.ts';
import { makeUserFolder, environmentPaths, readListFile, type InstalledPackages } from './environment-store.ts';
import { interpreterIn } from './install-commands.ts';
import { findInstaller, findInterpreter } from './installer.ts';
import type { Interpreter } from './interpreter.ts';
import { packagesAsText } from './kept-packages.ts';
import { obtainEnvironment, type SharedEnvironment, type WantedEnvironment } from './obtain-environment.ts';

/** Installs the packages of graphs in Python, and creates the revision's environment with them. Takes real paths. */
export async function installPython(
  { source, configFolder }: { source: string; configFolder: string },
  config: GraphConfig,
  running: RunningBuild,
): Promise<StepResult<PythonEnvironment>> {
  const project = pythonSource(source, relative(source, configFolder).split(sep).join('/'));
  const plan = planPython(config, project);
  if (plan.kind === 'refused')
    return stepFailed(`${running.request.graphConfigPath}: \`${fieldName(plan.path)}\` ${plan.message}.`);
  const tooOld = lockedPythonEngineProblem(plan, project);
  if (tooOld !== undefined) return stepFailed(`${tooOld.file}: ${tooOld.message}`);
  const wanted = {
    wanted: config.python_version,
    required: requiredPythons(plan, project),
    needsPip: plan.installer === 'pip',
  };
  const interpreter = await findInterpreter(wanted, running);
  if (!interpreter.ok) return interpreter;
  const installer = await findInstaller(plan, interpreter.value, running, hasUvIndex(plan, project));
  if (!installer.ok) return installer;
  for (const warning of installer.value.plan.warnings) running.warn(warning);
  const shared = await obtainWithEngine({ ...installer.value, project, source, configFolder }, running);
  if (!shared.ok) return shared;
  const checked = checkPackages(shared.value, running);
  if (!checked.ok) return checked;
  return createRevisionEnvironment(
    shared.value,
    interpreter.value,
    { source, paths: modulePaths(plan, project) },
    running,
  );
}

/**
 * Installs the packages. Adds the engine to those that lack it and are not locked: the images of the public service
 * provide it, so agents often don't name it.
 */
async function obtainWithEngine(wanted: WantedEnvironment, running: RunningBuild) {
  const obtained = await obtainEnvironment(wanted, running);
  const { plan } = wanted;
  if (!obtained.ok || plan.isLocked || engineOf(obtained.value) !== undefined) return obtained;
  running.warn(
    `${pythonEngine} is not among the agent's packages, and is added to them. Name it to choose its version.`,
  );
  return obtainEnvironment({ ...wanted, plan: { ...plan, packages: [...plan.packages, pythonEngine] } }, running);
}

/** The version of the engine among packages; undefined if it is not. */
const engineOf = ({ packages }: InstalledPackages): string | undefined =>
  packages.find(([name]) => name.toLowerCase() === pythonEngine)?.[1];

/** Creates an empty environment for an install command to fill, and adds it to the path of further commands. */
export async function emptyEnvironment(
  config: GraphConfig,
  running: RunningBuild,
): Promise<StepResult<PythonEnvironment>> {
  const { folder, request, run } = running;
  const interpreter = await findInterpreter({ wanted: config.python_version, needsPip: true }, running);
  if (!interpreter.ok) return interpreter;
  await makeUserFolder(folder.python, request.user);
  const args = ['-I', '-m', 'venv', folder.python];
  const end = await run({ command: interpreter.value.path, args, cwd: folder.home });
  if (end.kind !== 'done') return stepFailed(end.kind === 'failed' ? describeFailure('python -m venv', end) : '');
  useEnvironment(running);
  return succeeded({ shared: undefined });
}

/** Checks the packages that an install command has put into the environment. */
export async function checkInstalledPackages(running: RunningBuild): Promise<StepResult<undefined>> {
  const { folder, run } = running;
  const list = 'packages.json';
  const args = ['-I', '-c', listPackagesScript, '', join(folder.python, list)];
  const end = await run({ command: interpreterIn(folder.python), args, cwd: folder.home, silent: true });
  if (end.kind !== 'done') return stepFailed(end.kind === 'failed' ? describeFailure('Listing the packages', end) : '');
  const installed = readListFile(folder.python, list);
  return installed
    ? checkPackages(installed, running)
    : stepFailed('The installed packages could not be listed. Build again.');
}

/** Refuses an engine that can't run, and keeps the list of packages. */
function checkPackages(installed: InstalledPackages, { request, dataDir }: RunningBuild): StepResult<undefined> {
  const engine = engineOf(installed);
  const problem = pythonEngineProblem(engine);
  if (problem !== undefined) return stepFailed(problem);
  keepPythonPackages(packagesAsText(installed), dataDir, request.revisionId);
  request.log('info', `The agent has ${installed.packages.length} packages of Python; ${pythonEngine} is ${engine}.`);
  return succeeded(undefined);
}

/** Creates the environment of this revision, with the packages of a shared one and the modules of its own checkout. */
async function createRevisionEnvironment(
  shared: SharedEnvironment,
  { path }: Interpreter,
  { source, paths }: { source: string; paths: string[] },
  running: RunningBuild,
): Promise<StepResult<PythonEnvironment>> {
  const { folder, request, run } = running;
  const { environment, aside } = environmentPaths(shared.folder);
  await makeUserFolder(folder.python, request.user);
  const places = [folder.python, environment, shared.site, aside, shared.source, source];
  const args = ['-I', '-c', placeEnvironmentScript, ...places, ...paths.map((each) => join(source, each))];
  const end = await run({ command: path, args, cwd: folder.home, silent: true });
  if (end.kind !== 'done')
    return stepFailed(end.kind === 'failed' ? describeFailure('Making the environment', end) : '');
  useEnvironment(running);
  return succeeded({ shared: shared.name });
}

/** Lets further commands find the environment's programs, and install into it. */
function useEnvironment({ env, provide, folder }: RunningBuild): void {
  provide({
    PATH: `${join(folder.python, 'bin')}:${env.PATH ?? ''}`,
    VIRTUAL_ENV: folder.python,
    UV_PROJECT_ENVIRONMENT: folder.python,
  });
}

/** The `requires-python` of the source's manifests. */
const requiredPythons = ({ projects, locked }: PythonInstall, project: PythonSource): string[] =>
  [...projects, ...(locked ? [locked.folder] : [])].flatMap(
    (folder) => requiredPython(project.textOf(pathInFolder('pyproject.toml', folder)) ?? '') ?? [],
  );

/** The folders to search for modules without a manifest. For a folder that is a package itself, its parent. */
const modulePaths = ({ moduleFolders }: PythonInstall, here: PythonSource): string[] =>
  moduleFolders.flatMap((folder) => {
    const names = here.entriesIn(folder);
    const isPackage = folder !== '' && names?.has('__init__.py') === true;
    const parent = folder.includes('/') ? posix.dirname(folder) : '';
    return [folder, ...(names?.has('src') ? [pathInFolder('src', folder)] : []), ...(isPackage ? [parent] : [])];
  });
