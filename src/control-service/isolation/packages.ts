import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as z from 'zod';

const manifest = z.object({
  dependencies: z.record(z.string(), z.string()).optional(),
  optionalDependencies: z.record(z.string(), z.string()).optional(),
  peerDependencies: z.record(z.string(), z.string()).optional(),
});

/**
 * The folders of some packages and their dependencies, as Node.js resolves them from `root`. Leaves out packages inside a
 * package's folder: they are part of it.
 *
 * @throws Error for a package that is not installed, or that is a link to a folder outside.
 */
export function packagesOf(names: readonly string[], root: string): string[] {
  const found = new Set<string>();
  const visit = (name: string, from: string, isOptional: boolean): void => {
    const folder = locate(name, from);
    if (folder === undefined) {
      if (isOptional) return;
      throw new Error(`the package ${name} is not installed`);
    }
    if (realpathSync(folder) !== folder) throw new Error(`${folder} is a link`);
    if (found.has(folder)) return;
    found.add(folder);
    const {
      dependencies = {},
      optionalDependencies = {},
      peerDependencies = {},
    } = manifest.parse(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')));
    const optional = new Set([...Object.keys(optionalDependencies), ...Object.keys(peerDependencies)]);
    for (const needed of new Set([...Object.keys(dependencies), ...optional])) {
      visit(needed, folder, optional.has(needed));
    }
  };
  for (const name of names) visit(name, realpathSync(root), false);
  const folders = [...found];
  return folders.filter((folder) => !folders.some((other) => folder.startsWith(`${other}/node_modules/`)));
}

function locate(name: string, from: string): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    const candidate = join(folder, 'node_modules', name);
    if (existsSync(join(candidate, 'package.json'))) return candidate;
    if (dirname(folder) === folder) return undefined;
  }
}
