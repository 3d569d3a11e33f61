import { posix } from 'node:path';
import type { FieldPath } from '../../../kit/diagnostics/problem.ts';
import type { GraphConfig } from '../../graph-config/schema.ts';
import { inFolder } from '../install-plan.ts';
import { engineInUvLock, pythonEngine, pythonEngineProblem, pythonVersionProblem } from './python-versions.ts';
import { namesUvIndex } from './pyproject.ts';
import { isPinned, type PythonSource } from './python-project.ts';

/** The keys of a graph configuration that decide what an agent in Python gets. */
export type PythonKeys = Pick<
  GraphConfig,
  'dependencies' | 'source' | 'python_version' | 'pip_installer' | 'pip_config_file'
>;

/** How the packages of an agent in Python are installed. Folders and files are relative to the root of its source. */
export interface PythonInstall {
  kind: 'install';
  /** `either`: uv wherever it can be had. */
  installer: 'uv' | 'pip' | 'either';
  /**
   * The folder whose uv.lock is installed first, exactly as it is, and the member of its workspace if it is named.
   * `isRequired`: the configuration names nothing else.
   */
  locked: { folder: string; package: string | undefined; isRequired: boolean } | undefined;
  /** Folders with a pyproject.toml or setup.py. */
  locals: string[];
  /** Folders without one, whose modules are only found. */
  onPath: string[];
  requirements: string[];
  /** Packages by their names, with versions, as `dependencies` says them. */
  packages: string[];
  pipConfig: string | undefined;
  /** Whether a later install has the same packages. */
  isLocked: boolean;
  /** What decides, for a person. */
  why: string;
  warnings: string[];
}

/** The plan, or the field that can't be carried out, and why: goes on from its name. */
export type PythonPlan = PythonInstall | { kind: 'refused'; path: FieldPath; message: string };

const refused = (path: FieldPath, message: string): PythonPlan => ({ kind: 'refused', path, message });

/**
 * Decides how the packages of graphs in Python are installed, as the public service does: `source`, or `dependencies`
 * with local folders, requirements files and packages of the index. A uv.lock of the one local package decides exactly.
 */
export function planPython(keys: PythonKeys, source: PythonSource): PythonPlan {
  const wrongVersion = pythonVersionProblem(keys.python_version);
  if (wrongVersion !== undefined) return refused(['python_version'], wrongVersion);
  const installer = installerOf(keys);
  if (installer === undefined) return refused(['pip_installer'], 'must be `auto`, `pip` or `uv`');
  const pipConfig = keys.pip_config_file ? within(source.folder, keys.pip_config_file) : undefined;
  if (keys.pip_config_file && (pipConfig === undefined || source.textOf(pipConfig) === undefined))
    return refused(['pip_config_file'], 'names a file that is not there. Commit it, or remove the key');
  const common = { kind: 'install', installer, pipConfig, warnings: [] } as const;
  if (keys.source) return planUvSource(keys, source, { ...common, installer: 'uv' });

  const plan: PythonInstall = {
    ...common,
    locked: undefined,
    locals: [],
    onPath: [],
    requirements: [],
    packages: [],
    isLocked: false,
    why: '',
    warnings: [],
  };
  const dependencies = keys.dependencies ?? ['.'];
  for (const [index, entry] of dependencies.entries()) {
    const wrong = addDependency(plan, entry.trim(), source);
    if (wrong !== undefined) return refused(['dependencies', index], wrong);
  }
  if ([plan.locals, plan.requirements, plan.packages].every((each) => each.length === 0)) {
    // As on the public service, whose images have it.
    plan.packages.push(pythonEngine);
    plan.warnings.push(
      `\`dependencies\` names no packages: ${pythonEngine} alone is installed. Name it to choose its version.`,
    );
  }
  return decideLock(plan, source);
}

function installerOf({
  pip_installer: asked,
  pip_config_file: file,
}: PythonKeys): PythonInstall['installer'] | undefined {
  if (asked === 'uv' || asked === 'pip') return asked;
  if (asked !== undefined && asked !== null && asked !== 'auto') return undefined;
  // uv does not read pip's configuration.
  return file ? 'pip' : 'either';
}

function planUvSource(
  { source: asked, dependencies = [] }: PythonKeys,
  source: PythonSource,
  common: Pick<PythonInstall, 'kind' | 'installer' | 'pipConfig'>,
): PythonPlan {
  if (dependencies.length > 0) return refused(['dependencies'], 'has no place beside `source`. Remove one of them');
  const root = within(source.folder, asked?.root ?? '.');
  const names = root === undefined ? undefined : source.namesIn(root);
  if (root === undefined || !names?.has('pyproject.toml') || !names.has('uv.lock'))
    return refused(
      asked?.root === undefined ? ['source'] : ['source', 'root'],
      'must be a folder with pyproject.toml and uv.lock. Run `uv lock`, and commit the file',
    );
  const named = asked?.package ?? undefined;
  const member = named === undefined ? memberOf(source, root) : root;
  const what = named === undefined ? '' : ` for ${named}`;
  return {
    ...common,
    locked: { folder: member, package: named, isRequired: true },
    locals: [],
    onPath: [],
    requirements: [],
    packages: [],
    isLocked: true,
    why: `\`source\` selects ${inFolder('uv.lock', root)}${what}`,
    warnings: [],
  };
}

/** The package that holds the configuration, below the root of its workspace. */
function memberOf(source: PythonSource, root: string): string {
  for (let folder = source.folder; folder !== root && isBelow(folder, root); folder = parentOf(folder))
    if (source.namesIn(folder)?.has('pyproject.toml')) return folder;
  return root;
}

/** Adds an entry of `dependencies` to the plan; returns why it can't be. */
function addDependency(plan: PythonInstall, entry: string, source: PythonSource): string | undefined {
  if (entry === '') return 'is empty. Remove it';
  if (entry.startsWith('-')) return 'must be a folder, a requirements file or a package, not an option';
  const path = isPath(entry) ? within(source.folder, entry) : undefined;
  const file = within(source.folder, entry);
  const isLocal = entry.startsWith('.') || entry.startsWith('/');
  if (isLocal && path === undefined) return 'leads out of the source. Name a folder inside of it';
  if (file !== undefined && /\.(?:txt|in|toml|py|cfg)$/i.test(entry) && source.textOf(file) !== undefined) {
    if (/\.(?:txt|in)$/i.test(entry)) plan.requirements.push(file);
    else addFolder(plan, parentOf(file), source);
    return undefined;
  }
  const names = path === undefined ? undefined : source.namesIn(path);
  if (path !== undefined && names) {
    addFolder(plan, path, source);
    return undefined;
  }
  if (isLocal) return 'names a folder that is not there. Commit it, or remove the entry';
  plan.packages.push(entry);
  return undefined;
}

function addFolder(plan: PythonInstall, folder: string, source: PythonSource): void {
  const names = source.namesIn(folder) ?? new Set();
  if ([...plan.locals, ...plan.onPath].includes(folder)) return;
  if (names.has('pyproject.toml') || names.has('setup.py')) {
    plan.locals.push(folder);
    return;
  }
  // The public service makes a package of it, named like the folder; its requirements count.
  plan.onPath.push(folder);
  if (names.has('requirements.txt')) plan.requirements.push(inFolder('requirements.txt', folder));
}

function decideLock(plan: PythonInstall, source: PythonSource): PythonInstall {
  const [only, ...others] = plan.locals;
  const lock = only === undefined || others.length > 0 ? undefined : folderAbove(only, 'uv.lock', source);
  const poetry = plan.locals.find((folder) => source.namesIn(folder)?.has('poetry.lock'));
  if (poetry !== undefined && lock === undefined)
    plan.warnings.push(
      `${inFolder('poetry.lock', poetry)} is not read: the packages are those that pyproject.toml allows. Commit a uv.lock for exact versions.`,
    );
  const hasMore = plan.packages.length > 0 || plan.requirements.length > 0;
  if (only !== undefined && lock !== undefined && plan.installer !== 'pip') {
    const why = `${inFolder('uv.lock', lock)} selects uv`;
    const locked = { folder: only, package: undefined, isRequired: false };
    return { ...plan, installer: 'uv', locked, locals: [], isLocked: !hasMore, why };
  }
  const texts = plan.requirements.map((file) => source.textOf(file) ?? '');
  const isLocked = plan.locals.length === 0 && plan.packages.length === 0 && texts.length > 0 && texts.every(isPinned);
  const why = whatDecides(plan);
  if (lock !== undefined) plan.warnings.push(`${inFolder('uv.lock', lock)} is not read with pip. ${unlocked}`);
  else if (!isLocked && poetry === undefined) plan.warnings.push(`There is no lock file for ${why}. ${unlocked}`);
  return { ...plan, isLocked, why };
}

const unlocked =
  'Its packages may differ in a later revision; commit a uv.lock, or a requirements.txt with exact versions.';

/** The plan where uv can't be had: uv.lock is not read then. */
export function withoutUv(plan: PythonInstall): PythonInstall {
  const { locked } = plan;
  const locals = locked === undefined ? plan.locals : [locked.folder, ...plan.locals];
  const warnings =
    locked === undefined ? plan.warnings : [...plan.warnings, `uv.lock is not read without uv. ${unlocked}`];
  return {
    ...plan,
    installer: 'pip',
    locked: undefined,
    locals,
    isLocked: plan.isLocked && locked === undefined,
    warnings,
  };
}

const whatDecides = ({ locals, requirements, packages }: PythonInstall): string =>
  [
    ...locals.map((folder) => (folder === '' ? 'the project' : folder)),
    ...requirements,
    ...(packages.length === 0 ? [] : [`${packages.length} of \`dependencies\``]),
  ].join(', ');

/** Why the engine that a plan's uv.lock names can't run, and in which file that is. */
export function lockedPythonEngineProblem(
  { locked }: PythonInstall,
  source: PythonSource,
): { file: string; message: string } | undefined {
  const folder = locked && folderAbove(locked.folder, 'uv.lock', source);
  if (folder === undefined) return undefined;
  const file = inFolder('uv.lock', folder);
  const version = engineInUvLock(source.textOf(file) ?? '');
  const message = version === undefined ? undefined : pythonEngineProblem(version);
  return message === undefined ? undefined : { file, message };
}

/** Whether the source tells uv where packages are: of these, pip would take others by the same names. */
export function hasUvIndex({ locals }: PythonInstall, source: PythonSource): boolean {
  const above = (folder: string): string[] => (folder === '' ? [''] : [folder, ...above(parentOf(folder))]);
  return [...new Set([source.folder, ...locals].flatMap(above))].some(
    (folder) =>
      source.namesIn(folder)?.has('uv.toml') === true ||
      namesUvIndex(source.textOf(inFolder('pyproject.toml', folder)) ?? ''),
  );
}

/** The nearest folder, from one upwards, that holds a file. */
function folderAbove(from: string, name: string, source: PythonSource): string | undefined {
  for (let folder = from; ; folder = parentOf(folder)) {
    if (source.namesIn(folder)?.has(name)) return folder;
    if (folder === '') return undefined;
  }
}

/** Whether an entry may be a path: packages of the index have neither a separator nor a leading dot. */
const isPath = (entry: string): boolean => entry.startsWith('.') || (entry.includes('/') && !/[:@;\s]/.test(entry));

/** A path from a folder of the source, relative to its root; undefined where it leads out of it. */
function within(folder: string, path: string): string | undefined {
  if (posix.isAbsolute(path) || path.includes('\\')) return undefined;
  const joined = posix.join(folder, path).replace(/\/$/, '');
  if (joined === '..' || joined.startsWith('../')) return undefined;
  return joined === '.' ? '' : joined;
}

const parentOf = (path: string): string => (path.includes('/') ? posix.dirname(path) : '');

const isBelow = (folder: string, root: string): boolean => root === '' || folder.startsWith(`${root}/`);
