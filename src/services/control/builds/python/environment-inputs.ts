import { posix } from 'node:path';
import type { PythonInstall } from '../../../../agent-folder/packages/python/python-plan.ts';
import { type PythonSource, referencesOf } from '../../../../agent-folder/packages/python/python-project.ts';
import { extraReadsReason } from '../../../../agent-folder/packages/python/pyproject.ts';
import { pathInFolder } from '../../../../agent-folder/packages/install-plan.ts';
import type { InstallInputs, ManifestFile } from '../manifests.ts';

/** The files that decide an installation, with the source's package names; or why its environment can't be shared. */
export function environmentInputs(plan: PythonInstall, source: PythonSource): InstallInputs {
  const files: ManifestFile[] = [];
  const add = (path: string): string | undefined => {
    const text = source.textOf(path);
    if (text !== undefined && !files.some((file) => file.path === path)) files.push({ path, bytes: Buffer.from(text) });
    return text;
  };
  if (plan.pipConfig !== undefined) add(plan.pipConfig);
  const seen = new Set<string>();
  const why =
    first(plan.requirements, (file) => requirementsReach(file, add, seen)) ??
    (plan.locked === undefined ? undefined : lockReaches(plan.locked.folder, source, add)) ??
    first(plan.projects, (folder) => packageReaches(folder, source, add));
  if (why !== undefined) return { kind: 'more', why };
  const folders = [...plan.projects, ...(plan.locked === undefined ? [] : [plan.locked.folder])];
  for (const folder of folders) {
    const names = packageNames(folder, source).join('\n');
    files.push({ path: `packages of ${folder}`, bytes: Buffer.from(names) });
  }
  return { kind: 'whole', files };
}

/** How many files of requirements are read to know whether an environment may be shared. */
const maxRequirements = 100;

type Add = (path: string) => string | undefined;

function first<T>(each: readonly T[], reach: (one: T) => string | undefined): string | undefined {
  for (const one of each) {
    const why = reach(one);
    if (why !== undefined) return why;
  }
  return undefined;
}

function requirementsReach(file: string, add: Add, seen: Set<string>): string | undefined {
  // Files may name one another, and each any number of times.
  if (seen.has(file)) return undefined;
  seen.add(file);
  const text = add(file);
  if (text === undefined) return undefined;
  const { files, isLocal } = referencesOf(text);
  if (isLocal) return `${file} takes a package from the repository itself`;
  if (seen.size > maxRequirements) return `more than ${maxRequirements} files name one another`;
  return first(files, (each) => {
    if (/^[\w+]+:\/\//.test(each)) return `${file} reads ${each.slice(0, 100)}`;
    const path = posix.join(posix.dirname(file), each);
    if (path.startsWith('..') || posix.isAbsolute(each)) return `${file} reads a file outside of the source`;
    return requirementsReach(path, add, seen);
  });
}

/** A workspace's lock file goes with the manifests of all of its members. */
function lockReaches(folder: string, source: PythonSource, add: Add): string | undefined {
  for (let root = folder; ; root = root.includes('/') ? posix.dirname(root) : '') {
    const text = add(pathInFolder('uv.lock', root));
    if (text !== undefined) {
      if (/source = \{ (?:directory|path) = /.test(text)) return 'uv.lock copies a package of the repository itself';
      const members = [...text.matchAll(/source = \{ (?:editable|virtual) = "([^"\n]*)" \}/g)];
      return first(members, ([, path = '.']) => {
        const member = posix.join(root, path);
        if (member.startsWith('..')) return 'uv.lock takes a package from outside of the source';
        return packageReaches(member === '.' ? '' : member.replace(/\/$/, ''), source, add);
      });
    }
    if (root === '') return packageReaches(folder, source, add);
  }
}

function packageReaches(folder: string, source: PythonSource, add: Add): string | undefined {
  const setup = pathInFolder('setup.py', folder);
  if (source.textOf(setup) !== undefined) return `${setup} may read the whole repository`;
  add(pathInFolder('setup.cfg', folder));
  const manifest = pathInFolder('pyproject.toml', folder);
  const reach = extraReadsReason(add(manifest) ?? '');
  return reach === undefined ? undefined : `${manifest} ${reach}`;
}

/** How many folders of packages are looked through for their names. */
const maxFolders = 2_000;

/** The names by which a package's manifest may find its modules: an editable installation lists them. */
function packageNames(folder: string, source: PythonSource): string[] {
  const names: string[] = [];
  let left = maxFolders;
  for (const root of [folder, pathInFolder('src', folder)]) {
    for (const name of source.entriesIn(root) ?? []) {
      if (name.endsWith('.py')) names.push(`${root}/${name}`);
      else if (!name.includes('.') && left > 0) {
        left -= 1;
        const within = source.entriesIn(pathInFolder(name, root));
        if (within && [...within].some((each) => each.endsWith('.py'))) names.push(`${root}/${name}/`);
      }
    }
  }
  return names.toSorted();
}
