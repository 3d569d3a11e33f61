import { spawn } from 'node:child_process';

/** Stands for a ref that does not exist. */
export const noCommit = '0'.repeat(40);

export interface Person {
  name: string;
  email: string;
  /** ISO 8601 with its offset. */
  date: string;
}

export interface GitCommit {
  sha: string;
  tree: string;
  parents: string[];
  author: Person;
  committer: Person;
  /** Without trailing line breaks. */
  message: string;
}

const fields = ['%H', '%T', '%P', '%an', '%ae', '%aI', '%cn', '%ce', '%cI', '%B'].join('%x1f');

/** Lists commits. @param args of `git log`: revisions, limits, order, paths. */
export async function listCommits(repository: string, ...args: string[]): Promise<GitCommit[]> {
  const printed = await git(repository, 'log', '-z', `--format=${fields}`, ...args);
  return printed.split('\0').filter(Boolean).map(parseCommit);
}

function parseCommit(line: string): GitCommit {
  const [sha = '', tree = '', parents = '', an = '', ae = '', ad = '', cn = '', ce = '', cd = '', ...message] =
    line.split('\x1f');
  return {
    sha,
    tree,
    parents: parents.split(' ').filter(Boolean),
    author: { name: an, email: ae, date: ad },
    committer: { name: cn, email: ce, date: cd },
    message: message.join('\x1f').trimEnd(),
  };
}

/** Reads one commit. @throws Error if it does not exist. */
export async function readCommit(repository: string, sha: string): Promise<GitCommit> {
  const [commit] = await listCommits(repository, '-1', '--end-of-options', sha);
  if (!commit) throw new Error(`there is no commit ${sha}`);
  return commit;
}

/**
 * Finds a commit as GitHub does: by a branch, a tag, a full ref or (part of) an id.
 *
 * @returns its id, or undefined if there is none.
 */
export async function resolveCommit(repository: string, ref: string): Promise<string | undefined> {
  const fullRefs = ref.startsWith('refs/') ? [ref] : [`refs/heads/${ref}`, `refs/tags/${ref}`, `refs/${ref}`];
  const candidates = ref === 'HEAD' ? ['HEAD'] : /^[0-9a-f]{40}$/.test(ref) ? [ref] : [...fullRefs, ref];
  for (const each of candidates) {
    // Ignore what git would not read as a plain name: ranges, ancestors, reflogs.
    if (each !== 'HEAD' && !/^[\w./@+-]+$/.test(each.replaceAll('@{', ''))) continue;
    const sha = await gitOrUndefined(
      repository,
      'rev-parse',
      '--verify',
      '--quiet',
      '--end-of-options',
      `${each}^{commit}`,
    );
    if (sha) return sha;
  }
  return undefined;
}

/** Every branch and tag with the object that it points at. */
export async function readRefs(repository: string): Promise<Map<string, string>> {
  const format = '--format=%(objectname) %(refname)';
  const printed = await git(repository, 'for-each-ref', format, 'refs/heads', 'refs/tags');
  return new Map(
    printed
      .split('\n')
      .filter(Boolean)
      .map((line) => [line.slice(41), line.slice(0, 40)]),
  );
}

/** Whether `commit` is an ancestor of `descendant`, or the same commit. */
export async function contains(repository: string, descendant: string, commit: string): Promise<boolean> {
  return (await runGit(repository, ['merge-base', '--is-ancestor', commit, descendant])).code === 0;
}

/** One file that differs between two commits. */
export interface ChangedFile {
  /** The blob of the new file; of the old one if it was removed. */
  blob: string;
  path: string;
  formerPath?: string;
  status: 'added' | 'removed' | 'modified' | 'renamed' | 'changed';
  /** Lines; 0 for binary files. */
  additions: number;
  deletions: number;
}

const statusByLetter: Record<string, ChangedFile['status']> = { A: 'added', D: 'removed', M: 'modified', R: 'renamed' };

/** The differences between two commits or trees, with renames. */
export async function changedFiles(repository: string, from: string, to: string): Promise<ChangedFile[]> {
  const raw = await git(repository, 'diff', '--raw', '-z', '-M', '--no-abbrev', from, to);
  const counts = (await git(repository, 'diff', '--numstat', '-M', from, to)).split('\n');
  return [...parseRawDiff(raw.split('\0'))].map((file, index) => {
    const [additions, deletions] = (counts[index] ?? '').split('\t').map(Number);
    return { ...file, additions: additions || 0, deletions: deletions || 0 };
  });
}

function* parseRawDiff(tokens: string[]): Generator<Omit<ChangedFile, 'additions' | 'deletions'>> {
  for (let at = 0; at < tokens.length;) {
    const [, , before = '', after = '', letter = ''] = (tokens[at] ?? '').split(' ');
    const first = tokens[at + 1];
    if (first === undefined) return;
    const status = statusByLetter[letter.charAt(0)] ?? 'changed';
    const second = status === 'renamed' ? tokens[at + 2] : undefined;
    yield {
      blob: status === 'removed' ? before : after,
      path: second ?? first,
      ...(second === undefined ? {} : { formerPath: first }),
      status,
    };
    at += second === undefined ? 2 : 3;
  }
}

/** The paths that one commit added, removed and modified compared with its first parent, as a push event lists them. */
export interface ChangedPaths {
  added: string[];
  removed: string[];
  modified: string[];
}

/** The changed paths of several commits. */
export async function changedPaths(repository: string, commits: readonly string[]): Promise<Map<string, ChangedPaths>> {
  const { stdout } = await runGit(
    repository,
    ['diff-tree', '--stdin', '-r', '--root', '--no-renames', '--name-status'],
    commits.map((commit) => `${commit}\n`).join(''),
  );
  const found = new Map<string, ChangedPaths>();
  let current: ChangedPaths | undefined;
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

/** The output and the exit code of a git command. */
interface GitResult {
  code: number | null;
  stdout: Buffer;
  stderr: string;
}

/** Ignores the settings of the machine and of the person, and never prompts. */
export const gitEnvironment = (): NodeJS.ProcessEnv => ({
  PATH: process.env['PATH'],
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_TERMINAL_PROMPT: '0',
  LC_ALL: 'C',
  GIT_AUTHOR_NAME: 'GitHub',
  GIT_AUTHOR_EMAIL: 'noreply@github.com',
  GIT_COMMITTER_NAME: 'GitHub',
  GIT_COMMITTER_EMAIL: 'noreply@github.com',
});

/** Runs git in a repository. Resolves with any exit code; rejects only if git cannot be started. */
export function runGit(repository: string, args: readonly string[], input?: string | Buffer): Promise<GitResult> {
  const child = spawn('git', ['-C', repository, '-c', 'core.quotePath=false', '-c', 'safe.directory=*', ...args], {
    env: gitEnvironment(),
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
  // A command that reads no input may exit before the input is written.
  child.stdin.on('error', () => child.stdin.destroy());
  child.stdin.end(input ?? '');
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout: Buffer.concat(out), stderr: Buffer.concat(err).toString() }));
  });
}

/**
 * Runs git and returns its output without the final line break.
 *
 * @throws Error with git's message if it fails.
 */
export async function git(repository: string, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runGit(repository, args);
  if (code !== 0) throw new Error(`git ${args.join(' ')} ended with ${code}: ${stderr.trim()}`);
  return stdout.toString().replace(/\n$/, '');
}

/** Like `git`, but returns undefined if git fails. */
export async function gitOrUndefined(repository: string, ...args: string[]): Promise<string | undefined> {
  const { code, stdout } = await runGit(repository, args);
  return code === 0 ? stdout.toString().replace(/\n$/, '') : undefined;
}
