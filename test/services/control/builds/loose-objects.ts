import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { git } from './repositories.ts';

/** The type of a path in a commit, as git stores it. */
export type ObjectMode = '100644' | '100755' | '120000' | '160000';

/** One path of a commit; some names git itself would refuse to add. */
export interface RawPath {
  names: readonly (string | Buffer)[];
  mode: ObjectMode;
  content: string | Buffer;
}

interface Tree {
  files: Map<string, { mode: ObjectMode; content: Buffer }>;
  folders: Map<string, Tree>;
}

/** Writes one object into a repository and returns its id. */
function writeObject(folder: string, kind: 'blob' | 'tree' | 'commit', content: Buffer): string {
  const bytes = Buffer.concat([Buffer.from(`${kind} ${content.length}\0`), content]);
  const id = createHash('sha1').update(bytes).digest('hex');
  const parent = join(folder, '.git/objects', id.slice(0, 2));
  mkdirSync(parent, { recursive: true });
  writeFileSync(join(parent, id.slice(2)), deflateSync(bytes, { level: 1 }));
  return id;
}

const emptyTree = (): Tree => ({ files: new Map(), folders: new Map() });

function writeTree(folder: string, { files, folders }: Tree): string {
  const entries = [
    ...[...files].map(([name, { mode, content }]) => ({
      name,
      sort: name,
      mode,
      id: mode === '160000' ? '1'.repeat(40) : writeObject(folder, 'blob', content),
    })),
    ...[...folders].map(([name, tree]) => ({ name, sort: `${name}/`, mode: '40000', id: writeTree(folder, tree) })),
  ].toSorted((one, other) => Buffer.compare(Buffer.from(one.sort, 'latin1'), Buffer.from(other.sort, 'latin1')));
  const lines = entries.map(({ name, mode, id }) =>
    Buffer.concat([Buffer.from(`${mode} `), Buffer.from(name, 'latin1'), Buffer.from([0]), Buffer.from(id, 'hex')]),
  );
  return writeObject(folder, 'tree', Buffer.concat(lines));
}

/** Commits paths, including those that git would refuse to write, as the head of `main` of a new repository. */
export function commitRaw(folder: string, paths: readonly RawPath[]): string {
  mkdirSync(folder, { recursive: true });
  git(folder, 'init', '--quiet', '--initial-branch=main');
  const root = emptyTree();
  for (const { names, mode, content } of paths) {
    const keys = names.map((name) => Buffer.from(name).toString('latin1'));
    const last = keys.pop() ?? 'none';
    let tree = root;
    for (const key of keys) {
      const next = tree.folders.get(key) ?? emptyTree();
      tree.folders.set(key, next);
      tree = next;
    }
    tree.files.set(last, { mode, content: Buffer.from(content) });
  }
  const person = 'A Person <person@example.com> 1700000000 +0000';
  const text = `tree ${writeTree(folder, root)}\nauthor ${person}\ncommitter ${person}\n\na change\n`;
  const id = writeObject(folder, 'commit', Buffer.from(text));
  writeFileSync(join(folder, '.git/refs/heads/main'), `${id}\n`);
  return id;
}
