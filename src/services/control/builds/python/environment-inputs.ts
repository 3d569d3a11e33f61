import { posix } from 'node:path';
import type { PythonInstall } from '../../../../agent-folder/packages/python/python-plan.ts';
import { type PythonSource, referencesOf } from '../../../../agent-folder/packages/python/python-project.ts';
import { extraReadsReason } from '../../../../agent-folder/packages/python/pyproject.ts';
import { pathInFolder } from '../../../../agent-folder/packages/install-plan.ts';
import type { InstallInputs, ManifestFile } from '../manifests.ts';

/** The files that decide an installation, and the source's own package names; or why no build can share it. */
export function environmentInputs(plan: PythonInstall, source: PythonSource): InstallInputs {
  const files: ManifestFile[] = [];
  const add = (path: string): string | undefined => {
    const text = source.textOf(path);
    if (text !== undefined && !files.some((file) => file.path === path)) files.push({ path, bytes: Buffer.from(text) });
    return text;
  };
  if (plan.pipConfig !== undefined) add(plan.pipConfig);
  const seen = new Set<string>();
  const reason =
    firstReason(plan.requirements, (file) => reasonInRequirements(file, add, seen)) ??
    (plan.locked === undefined ? undefined : reasonInLock(plan.locked.folder, source, add)) ??
    firstReason(plan.projects, (folder) => reasonInPackage(folder, source, add));
  if (reason !== undefined) return { kind: 'more', reason };
  const folders = [...plan.projects, ...(plan.locked === undefined ? [] : [plan.locked.folder])];
  for (const folder of folders) {
    const names = packageNames(folder, source).join('\n');
    files.push({ path: `packages of ${folder}`, bytes: Buffer.from(names) });
  }
  return { kind: 'whole', files };
}

/** The most requirements files that are read to decide whether an environment can be shared. */
const maxRequirements = 100;

/** Adds a file of the source to the inputs, and returns its text, if it exists. */
type AddFile = (path: string) => string | undefined;

/** The first reason that a function finds for one of the items. */
function firstReason<T>(each: readonly T[], findReason: (one: T) => string | undefined): string | undefined {
  for (const one of each) {
    const reason = findReason(one);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

function reasonInRequirements(file: string, add: AddFile, seen: Set<string>): string | undefined {
  // Files may include each other, several times or in a circle.
  if (seen.has(file)) return undefined;
  seen.add(file);
  const text = add(file);
  if (text === undefined) return undefined;
  const { files, isLocal } = referencesOf(text);
  if (isLocal) return `${file} takes a package from the repository itself`;
  if (seen.size > maxRequirements) return `more than ${maxRequirements} files name one another`;
  return firstReason(files, (each) => {
    if (/^[\w+]+:\/\//.test(each)) return `${file} reads ${each.slice(0, 100)}`;
    const path = posix.join(posix.dirname(file), each);
    if (path.startsWith('..') || posix.isAbsolute(each)) return `${file} reads a file outside of the source`;
    return reasonInRequirements(path, add, seen);
  });
}

/** Reads the nearest lock file above a folder, and with it the manifests of all members of the workspace. */
function reasonInLock(folder: string, source: PythonSource, add: AddFile): string | undefined {
  for (let root = folder; ; root = root.includes('/') ? posix.dirname(root) : '') {
    const text = add(pathInFolder('uv.lock', root));
    if (text !== undefined) {
      if (/source = \{ (?:directory|path) = /.test(text)) return 'uv.lock copies a package of the repository itself';
      const members = [...text.matchAll(/source = \{ (?:editable|virtual) = "([^"\n]*)" \}/g)];
      return firstReason(members, ([, path = '.']) => {
        const member = posix.join(root, path);
        if (member.startsWith('..')) return 'uv.lock takes a package from outside of the source';
        return reasonInPackage(member === '.' ? '' : member.replace(/\/$/, ''), source, add);
      });
    }
    if (root === '') return reasonInPackage(folder, source, add);
  }
}

function reasonInPackage(folder: string, source: PythonSource, add: AddFile): string | undefined {
  const setup = pathInFolder('setup.py', folder);
  if (source.textOf(setup) !== undefined) return `${setup} may read the whole repository`;
  add(pathInFolder('setup.cfg', folder));
  const manifest = pathInFolder('pyproject.toml', folder);
  const reach = extraReadsReason(add(manifest) ?? '');
  return reach === undefined ? undefined : `${manifest} ${reach}`;
}

/** The most folders that are searched for package names. */
const maxFolders = 2_000;

/** The names of a package's modules: an editable installation lists them. */
function packageNames(folder: string, source: PythonSource): string[] {
  const names: string[] = [];
  let remaining = maxFolders;
  for (const root of [folder, pathInFolder('src', folder)]) {
    for (const name of source.entriesIn(root) ?? []) {
      if (name.endsWith('.py')) names.push(`${root}/${name}`);
      else if (!name.includes('.') && remaining > 0) {
        remaining -= 1;
        const within = source.entriesIn(pathInFolder(name, root));
        if (within && [...within].some((each) => each.endsWith('.py'))) names.push(`${root}/${name}/`);
      }
    }
  }
  return names.toSorted();
}
