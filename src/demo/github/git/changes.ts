import { git, runGit } from './run-git.ts';

/** One file that differs between two commits. */
export interface ChangedFile {
  /** Of the new file, or of the old one where it is gone. */
  blob: string;
  path: string;
  formerPath?: string;
  status: 'added' | 'removed' | 'modified' | 'renamed' | 'changed';
  additions: number;
  deletions: number;
  /** Absent for bytes that are no text. */
  patch?: string;
}

const letters: Record<string, ChangedFile['status']> = { A: 'added', D: 'removed', M: 'modified', R: 'renamed' };

/** The differences between two commits or trees, with renames. */
export async function changedFiles(repository: string, from: string, to: string): Promise<ChangedFile[]> {
  const raw = await git(repository, 'diff', '--raw', '-z', '-M', '--no-abbrev', from, to);
  const files = [...readRaw(raw.split('\0'))];
  if (files.length === 0) return files;
  const text = await git(repository, 'diff', '--patch', '-M', '--no-color', '--no-ext-diff', from, to);
  // Lines of a file begin with a blank, a sign or a backslash, so only a heading begins like this.
  const parts = text.split(/^diff --git /m).slice(1);
  return files.map((file, index) => ({ ...file, ...readPatch(parts[index] ?? '') }));
}

function* readRaw(words: string[]): Generator<ChangedFile> {
  for (let at = 0; at < words.length;) {
    const [, , before = '', after = '', letter = ''] = (words[at] ?? '').split(' ');
    const first = words[at + 1];
    if (first === undefined) return;
    const status = letters[letter.charAt(0)] ?? 'changed';
    const second = status === 'renamed' ? words[at + 2] : undefined;
    yield {
      blob: status === 'removed' ? before : after,
      path: second ?? first,
      ...(second === undefined ? {} : { formerPath: first }),
      status,
      additions: 0,
      deletions: 0,
    };
    at += second === undefined ? 2 : 3;
  }
}

function readPatch(part: string): Pick<ChangedFile, 'additions' | 'deletions' | 'patch'> {
  const begin = part.search(/^@@ /m);
  if (begin < 0) return { additions: 0, deletions: 0 };
  const patch = part.slice(begin).replace(/\n$/, '');
  const lines = patch.split('\n');
  return {
    additions: lines.filter((line) => line.startsWith('+')).length,
    deletions: lines.filter((line) => line.startsWith('-')).length,
    patch,
  };
}

/** The paths that one commit added, removed and modified against its first parent, as a push lists them. */
export interface PathsOfCommit {
  added: string[];
  removed: string[];
  modified: string[];
}

/** The paths of many commits at once. */
export async function pathsOf(repository: string, commits: readonly string[]): Promise<Map<string, PathsOfCommit>> {
  const { stdout } = await runGit(
    repository,
    ['diff-tree', '--stdin', '-r', '--root', '--no-renames', '--name-status'],
    commits.map((commit) => `${commit}\n`).join(''),
  );
  const found = new Map<string, PathsOfCommit>();
  let current: PathsOfCommit | undefined;
  for (const line of stdout.toString().split('\n')) {
    if (/^[0-9a-f]{40}$/.test(line)) {
      current = { added: [], removed: [], modified: [] };
      found.set(line, current);
      continue;
    }
    const [letter = '', path] = line.split('\t');
    if (path === undefined) continue;
    current?.[letter === 'A' ? 'added' : letter === 'D' ? 'removed' : 'modified'].push(path);
  }
  return found;
}
