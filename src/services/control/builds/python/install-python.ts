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
import { keepPythonPackages } from '../made-lock.ts';
import { failure } from '../run-command.ts';
import { listPackages, placeEnvironment } from './environment-scripts.ts';
import { ownFolder, partsOf, readListFile, type Installed } from './environment-store.ts';
import { interpreterIn } from './install-commands.ts';
import { findInstaller, findInterpreter } from './installer.ts';
import type { Interpreter } from './interpreter.ts';
import { keptText } from './kept-packages.ts';
import { obtainEnvironment, type SharedEnvironment, type WantedEnvironment } from './obtain-environment.ts';

/** Installs the packages of graphs in Python, and makes the revision's environment of them. Real paths. */
export async function installPython(
  { source, configFolder }: { source: string; configFolder: string },
  config: GraphConfig,
  running: RunningBuild,
): Promise<StepResult<PythonEnvironment>> {
  const here = pythonSource(source, relative(source, configFolder).split(sep).join('/'));
  const plan = planPython(config, here);
  if (plan.kind === 'refused')
    return stepFailed(`${running.request.graphConfigPath}: \`${fieldName(plan.path)}\` ${plan.message}.`);
  const tooOld = lockedPythonEngineProblem(plan, here);
  if (tooOld !== undefined) return stepFailed(`${tooOld.file}: ${tooOld.message}`);
  const wanted = { wanted: config.python_version, required: required(plan, here), needsPip: plan.installer === 'pip' };
  const interpreter = await findInterpreter(wanted, running);
  if (!interpreter.ok) return interpreter;
  const installer = await findInstaller(plan, interpreter.value, running, hasUvIndex(plan, here));
  if (!installer.ok) return installer;
  for (const warning of installer.value.plan.warnings) running.warn(warning);
  const shared = await obtainWithEngine({ ...installer.value, here, source, configFolder }, running);
  if (!shared.ok) return shared;
  const checked = checkPackages(shared.value, running);
  if (!checked.ok) return checked;
  return place(shared.value, interpreter.value, { source, paths: modulePaths(plan, here) }, running);
}

/**
 * Adds the engine to packages that lack it and are not locked: images of the public service have it, so agents leave it
 * out.
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
const engineOf = ({ packages }: Installed): string | undefined =>
  packages.find(([name]) => name.toLowerCase() === pythonEngine)?.[1];

/** Makes an empty environment, which an install command fills: it is on the path of all further commands. */
export async function emptyEnvironment(
  config: GraphConfig,
  running: RunningBuild,
): Promise<StepResult<PythonEnvironment>> {
  const { folder, request, run } = running;
  const interpreter = await findInterpreter({ wanted: config.python_version, needsPip: true }, running);
  if (!interpreter.ok) return interpreter;
  await ownFolder(folder.python, request.user);
  const args = ['-I', '-m', 'venv', folder.python];
  const end = await run({ command: interpreter.value.path, args, cwd: folder.home });
  if (end.kind !== 'done') return stepFailed(end.kind === 'failed' ? failure('python -m venv', end) : '');
  useEnvironment(running);
  return succeeded({ shared: undefined });
}

/** Checks what an install command put into the environment. */
export async function checkFilled(running: RunningBuild): Promise<StepResult<undefined>> {
  const { folder, run } = running;
  const list = 'packages.json';
  const args = ['-I', '-c', listPackages, '', join(folder.python, list)];
  const end = await run({ command: interpreterIn(folder.python), args, cwd: folder.home, silent: true });
  if (end.kind !== 'done') return stepFailed(end.kind === 'failed' ? failure('Listing the packages', end) : '');
  const installed = readListFile(folder.python, list);
  return installed
    ? checkPackages(installed, running)
    : stepFailed('The installed packages could not be listed. Build again.');
}

/** Refuses an engine that can't run, and keeps which packages there are. */
function checkPackages(installed: Installed, { request, dataDir }: RunningBuild): StepResult<undefined> {
  const engine = engineOf(installed);
  const problem = pythonEngineProblem(engine);
  if (problem !== undefined) return stepFailed(problem);
  keepPythonPackages(keptText(installed), dataDir, request.revisionId);
  request.log('info', `The agent has ${installed.packages.length} packages of Python; ${pythonEngine} is ${engine}.`);
  return succeeded(undefined);
}

async function place(
  shared: SharedEnvironment,
  { path }: Interpreter,
  { source, paths }: { source: string; paths: string[] },
  running: RunningBuild,
): Promise<StepResult<PythonEnvironment>> {
  const { folder, request, run } = running;
  const { environment, aside } = partsOf(shared.folder);
  await ownFolder(folder.python, request.user);
  const places = [folder.python, environment, shared.site, aside, shared.source, source];
  const args = ['-I', '-c', placeEnvironment, ...places, ...paths.map((each) => join(source, each))];
  const end = await run({ command: path, args, cwd: folder.home, silent: true });
  if (end.kind !== 'done') return stepFailed(end.kind === 'failed' ? failure('Making the environment', end) : '');
  useEnvironment(running);
  return succeeded({ shared: shared.name });
}

/** Further commands find the environment's programs, and install into it. */
function useEnvironment({ env, provide, folder }: RunningBuild): void {
  provide({
    PATH: `${join(folder.python, 'bin')}:${env.PATH ?? ''}`,
    VIRTUAL_ENV: folder.python,
    UV_PROJECT_ENVIRONMENT: folder.python,
  });
}

/** What the manifests of the source say of the interpreter. */
const required = ({ projects, locked }: PythonInstall, here: PythonSource): string[] =>
  [...projects, ...(locked ? [locked.folder] : [])].flatMap(
    (folder) => requiredPython(here.textOf(pathInFolder('pyproject.toml', folder)) ?? '') ?? [],
  );

/** The folders in which modules of folders without a manifest are found: one that is a package itself by its name. */
const modulePaths = ({ moduleFolders }: PythonInstall, here: PythonSource): string[] =>
  moduleFolders.flatMap((folder) => {
    const names = here.entriesIn(folder);
    const isPackage = folder !== '' && names?.has('__init__.py') === true;
    const parent = folder.includes('/') ? posix.dirname(folder) : '';
    return [folder, ...(names?.has('src') ? [pathInFolder('src', folder)] : []), ...(isPackage ? [parent] : [])];
  });
