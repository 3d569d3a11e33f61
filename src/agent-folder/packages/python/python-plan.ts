import { posix } from 'node:path';
import type { FieldPath } from '../../../kit/diagnostics/problem.ts';
import type { GraphConfig } from '../../graph-config/schema.ts';
import { pathInFolder } from '../install-plan.ts';
import { engineInUvLock, pythonEngine, pythonEngineProblem, pythonVersionProblem } from './python-versions.ts';
import { namesUvIndex } from './pyproject.ts';
import { isPinned, type PythonSource } from './python-project.ts';

/** The keys of a graph configuration that decide which packages an agent in Python gets. */
export type PythonKeys = Pick<
  GraphConfig,
  'dependencies' | 'source' | 'python_version' | 'pip_installer' | 'pip_config_file'
>;

/** How the packages of an agent in Python are installed. Folders and files are relative to the root of its source. */
export interface PythonInstall {
  kind: 'install';
  /** `either`: uv if it is available, else pip. */
  installer: 'uv' | 'pip' | 'either';
  /**
   * The folder whose uv.lock is installed first and exactly, and the workspace member if one is named. `isRequired`:
   * the configuration names no other source of packages.
   */
  locked: { folder: string; package: string | undefined; isRequired: boolean } | undefined;
  /** Folders with a pyproject.toml or setup.py. */
  projects: string[];
  /** Folders without either file. Their modules can be imported, but nothing is installed. */
  moduleFolders: string[];
  requirements: string[];
  /** Package names with versions, as written in `dependencies`. */
  packages: string[];
  pipConfig: string | undefined;
  /** Whether a later install is sure to get the same packages. */
  isLocked: boolean;
  /** What decided the plan, for people. */
  reason: string;
  warnings: string[];
}

/** The plan, or an invalid field and its problem, as a sentence that continues the field's name. */
export type PythonPlan = PythonInstall | { kind: 'refused'; path: FieldPath; message: string };

const refuse = (path: FieldPath, message: string): PythonPlan => ({ kind: 'refused', path, message });

/**
 * Decides how the packages of graphs in Python are installed, as the public service does: `source`, or `dependencies`
 * with local folders, requirements files and packages of the index. If there is one local project with a uv.lock, the
 * lock file decides.
 */
export function planPython(keys: PythonKeys, source: PythonSource): PythonPlan {
  const wrongVersion = pythonVersionProblem(keys.python_version);
  if (wrongVersion !== undefined) return refuse(['python_version'], wrongVersion);
  const installer = chooseInstaller(keys);
  if (installer === undefined) return refuse(['pip_installer'], 'must be `auto`, `pip` or `uv`');
  const pipConfig = keys.pip_config_file ? resolveInSource(source.folder, keys.pip_config_file) : undefined;
  if (keys.pip_config_file && (pipConfig === undefined || source.textOf(pipConfig) === undefined))
    return refuse(['pip_config_file'], 'names a file that is not there. Commit it, or remove the key');
  const plan: PythonInstall = {
    kind: 'install',
    installer,
    pipConfig,
    locked: undefined,
    projects: [],
    moduleFolders: [],
    requirements: [],
    packages: [],
    isLocked: false,
    reason: '',
    warnings: [],
  };
  if (keys.source) return planUvSource(keys, source, plan);
  const dependencies = keys.dependencies ?? ['.'];
  for (const [index, entry] of dependencies.entries()) {
    const problem = addDependency(plan, entry.trim(), source);
    if (problem !== undefined) return refuse(['dependencies', index], problem);
  }
  if ([plan.projects, plan.requirements, plan.packages].every((each) => each.length === 0)) {
    // Images of the public service contain the engine.
    plan.packages.push(pythonEngine);
    plan.warnings.push(
      `\`dependencies\` names no packages: ${pythonEngine} alone is installed. Name it to choose its version.`,
    );
  }
  return decideLock(plan, source);
}

function chooseInstaller({
  pip_installer: requested,
  pip_config_file: file,
}: PythonKeys): PythonInstall['installer'] | undefined {
  if (requested === 'uv' || requested === 'pip') return requested;
  if (requested !== undefined && requested !== null && requested !== 'auto') return undefined;
  // uv does not read pip's configuration.
  return file ? 'pip' : 'either';
}

function planUvSource(
  { source: requested, dependencies = [] }: PythonKeys,
  source: PythonSource,
  plan: PythonInstall,
): PythonPlan {
  if (dependencies.length > 0) return refuse(['dependencies'], 'has no place beside `source`. Remove one of them');
  const root = resolveInSource(source.folder, requested?.root ?? '.');
  const names = root === undefined ? undefined : source.entriesIn(root);
  if (root === undefined || !names?.has('pyproject.toml') || !names.has('uv.lock'))
    return refuse(
      requested?.root === undefined ? ['source'] : ['source', 'root'],
      'must be a folder with pyproject.toml and uv.lock. Run `uv lock`, and commit the file',
    );
  const memberName = requested?.package ?? undefined;
  const memberFolder = memberName === undefined ? findMember(source, root) : root;
  const suffix = memberName === undefined ? '' : ` for ${memberName}`;
  return {
    ...plan,
    installer: 'uv',
    locked: { folder: memberFolder, package: memberName, isRequired: true },
    isLocked: true,
    reason: `\`source\` selects ${pathInFolder('uv.lock', root)}${suffix}`,
  };
}

/** The folder of the workspace member that contains the configuration. */
function findMember(source: PythonSource, root: string): string {
  for (let folder = source.folder; folder !== root && isBelow(folder, root); folder = parentOf(folder))
    if (source.entriesIn(folder)?.has('pyproject.toml')) return folder;
  return root;
}

/** Adds an entry of `dependencies` to the plan, or returns the problem with it. */
function addDependency(plan: PythonInstall, entry: string, source: PythonSource): string | undefined {
  if (entry === '') return 'is empty. Remove it';
  if (entry.startsWith('-')) return 'must be a folder, a requirements file or a package, not an option';
  const path = isPath(entry) ? resolveInSource(source.folder, entry) : undefined;
  const file = resolveInSource(source.folder, entry);
  const isLocal = entry.startsWith('.') || entry.startsWith('/');
  if (isLocal && path === undefined) return 'leads out of the source. Name a folder inside of it';
  if (file !== undefined && /\.(?:txt|in|toml|py|cfg)$/i.test(entry) && source.textOf(file) !== undefined) {
    if (/\.(?:txt|in)$/i.test(entry)) plan.requirements.push(file);
    else addFolder(plan, parentOf(file), source);
    return undefined;
  }
  const names = path === undefined ? undefined : source.entriesIn(path);
  if (path !== undefined && names) {
    addFolder(plan, path, source);
    return undefined;
  }
  if (isLocal) return 'names a folder that is not there. Commit it, or remove the entry';
  plan.packages.push(entry);
  return undefined;
}

function addFolder(plan: PythonInstall, folder: string, source: PythonSource): void {
  const names = source.entriesIn(folder) ?? new Set();
  if ([...plan.projects, ...plan.moduleFolders].includes(folder)) return;
  if (names.has('pyproject.toml') || names.has('setup.py')) {
    plan.projects.push(folder);
    return;
  }
  // The public service turns the folder into a package of its name, and installs its requirements.
  plan.moduleFolders.push(folder);
  if (names.has('requirements.txt')) plan.requirements.push(pathInFolder('requirements.txt', folder));
}

function decideLock(plan: PythonInstall, source: PythonSource): PythonInstall {
  const [project, ...others] = plan.projects;
  const lockFolder = project === undefined || others.length > 0 ? undefined : findUpwards(project, 'uv.lock', source);
  const poetryFolder = plan.projects.find((folder) => source.entriesIn(folder)?.has('poetry.lock'));
  if (poetryFolder !== undefined && lockFolder === undefined)
    plan.warnings.push(
      `${pathInFolder('poetry.lock', poetryFolder)} is not read: the packages are those that pyproject.toml allows. Commit a uv.lock for exact versions.`,
    );
  const hasMore = plan.packages.length > 0 || plan.requirements.length > 0;
  if (project !== undefined && lockFolder !== undefined && plan.installer !== 'pip') {
    const reason = `${pathInFolder('uv.lock', lockFolder)} selects uv`;
    const locked = { folder: project, package: undefined, isRequired: false };
    return { ...plan, installer: 'uv', locked, projects: [], isLocked: !hasMore, reason };
  }
  const texts = plan.requirements.map((file) => source.textOf(file) ?? '');
  const isLocked =
    plan.projects.length === 0 && plan.packages.length === 0 && texts.length > 0 && texts.every(isPinned);
  const reason = describeSources(plan);
  if (lockFolder !== undefined)
    plan.warnings.push(`${pathInFolder('uv.lock', lockFolder)} is not read with pip. ${unlockedAdvice}`);
  else if (!isLocked && poetryFolder === undefined)
    plan.warnings.push(`There is no lock file for ${reason}. ${unlockedAdvice}`);
  return { ...plan, isLocked, reason };
}

const unlockedAdvice =
  'Its packages may differ in a later revision; commit a uv.lock, or a requirements.txt with exact versions.';

/** The plan for a machine without uv, where uv.lock is not read. */
export function withoutUv(plan: PythonInstall): PythonInstall {
  const { locked } = plan;
  const projects = locked === undefined ? plan.projects : [locked.folder, ...plan.projects];
  const warnings =
    locked === undefined ? plan.warnings : [...plan.warnings, `uv.lock is not read without uv. ${unlockedAdvice}`];
  return {
    ...plan,
    installer: 'pip',
    locked: undefined,
    projects,
    isLocked: plan.isLocked && locked === undefined,
    warnings,
  };
}

const describeSources = ({ projects, requirements, packages }: PythonInstall): string =>
  [
    ...projects.map((folder) => (folder === '' ? 'the project' : folder)),
    ...requirements,
    ...(packages.length === 0 ? [] : [`${packages.length} of \`dependencies\``]),
  ].join(', ');

/** The problem of an engine whose version in uv.lock can't run, and the path of that file. */
export function lockedPythonEngineProblem(
  { locked }: PythonInstall,
  source: PythonSource,
): { file: string; message: string } | undefined {
  const folder = locked && findUpwards(locked.folder, 'uv.lock', source);
  if (folder === undefined) return undefined;
  const file = pathInFolder('uv.lock', folder);
  const version = engineInUvLock(source.textOf(file) ?? '');
  const message = version === undefined ? undefined : pythonEngineProblem(version);
  return message === undefined ? undefined : { file, message };
}

/** Whether the source configures package indexes for uv: pip might install other packages of the same names. */
export function hasUvIndex({ projects }: PythonInstall, source: PythonSource): boolean {
  const ancestors = (folder: string): string[] => (folder === '' ? [''] : [folder, ...ancestors(parentOf(folder))]);
  return [...new Set([source.folder, ...projects].flatMap(ancestors))].some(
    (folder) =>
      source.entriesIn(folder)?.has('uv.toml') === true ||
      namesUvIndex(source.textOf(pathInFolder('pyproject.toml', folder)) ?? ''),
  );
}

/** The nearest folder upwards that contains a file. */
function findUpwards(from: string, name: string, source: PythonSource): string | undefined {
  for (let folder = from; ; folder = parentOf(folder)) {
    if (source.entriesIn(folder)?.has(name)) return folder;
    if (folder === '') return undefined;
  }
}

/** Whether an entry may be a path: package names have neither a slash nor a leading dot. */
const isPath = (entry: string): boolean => entry.startsWith('.') || (entry.includes('/') && !/[:@;\s]/.test(entry));

/** Resolves a path against a folder of the source; undefined if it leads out of the source. */
function resolveInSource(folder: string, path: string): string | undefined {
  if (posix.isAbsolute(path) || path.includes('\\')) return undefined;
  const joined = posix.join(folder, path).replace(/\/$/, '');
  if (joined === '..' || joined.startsWith('../')) return undefined;
  return joined === '.' ? '' : joined;
}

const parentOf = (path: string): string => (path.includes('/') ? posix.dirname(path) : '');

const isBelow = (folder: string, root: string): boolean => root === '' || folder.startsWith(`${root}/`);
