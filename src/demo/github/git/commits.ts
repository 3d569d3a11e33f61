import { git, gitOr, runGit } from './run-git.ts';

/** The tree that holds nothing, which git knows everywhere. */
export const emptyTree = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';
/** What stands for a ref that is not there. */
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
  /** Without line ends at its end. */
  message: string;
}

const fields = ['%H', '%T', '%P', '%an', '%ae', '%aI', '%cn', '%ce', '%cI', '%B'].join('%x1f');

/** Commits as `git log` takes them: revisions, limits, order, paths. */
export async function listCommits(repository: string, ...args: string[]): Promise<GitCommit[]> {
  const printed = await git(repository, 'log', '-z', `--format=${fields}`, ...args);
  return printed.split('\0').filter(Boolean).map(readCommit);
}

function readCommit(line: string): GitCommit {
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

/** The commit itself; it has to be there. */
export async function readOne(repository: string, sha: string): Promise<GitCommit> {
  const [commit] = await listCommits(repository, '-1', '--end-of-options', sha);
  if (!commit) throw new Error(`there is no commit ${sha}`);
  return commit;
}

/** Whether there is a commit of this full id. */
export async function hasCommit(repository: string, sha: string): Promise<boolean> {
  if (!/^[0-9a-f]{40}$/.test(sha)) return false;
  return (await gitOr(repository, 'cat-file', '-t', sha)) === 'commit';
}

/**
 * The commit that GitHub finds by a branch, a tag, a full ref or (part of) an id.
 *
 * @returns its id, or undefined where there is none.
 */
export async function resolveCommit(repository: string, ref: string): Promise<string | undefined> {
  const named = ref.startsWith('refs/') ? [ref] : [`refs/heads/${ref}`, `refs/tags/${ref}`, `refs/${ref}`];
  const wanted = ref === 'HEAD' ? ['HEAD'] : /^[0-9a-f]{40}$/.test(ref) ? [ref] : [...named, ref];
  for (const each of wanted) {
    // What git would take for more than a name is none: ranges, ancestors, reflogs.
    if (each !== 'HEAD' && !/^[\w./@+-]+$/.test(each.replaceAll('@{', ''))) continue;
    const sha = await gitOr(repository, 'rev-parse', '--verify', '--quiet', '--end-of-options', `${each}^{commit}`);
    if (sha) return sha;
  }
  return undefined;
}

/** Every branch and tag with what it points at. */
export async function readRefs(repository: string, under = ['refs/heads', 'refs/tags']): Promise<Map<string, string>> {
  const printed = await git(repository, 'for-each-ref', '--format=%(objectname) %(refname)', ...under);
  return new Map(
    printed
      .split('\n')
      .filter(Boolean)
      .map((line) => [line.slice(41), line.slice(0, 40)]),
  );
}

/** Whether all that `commit` holds is in `by` too. */
export async function contains(repository: string, by: string, commit: string): Promise<boolean> {
  return (await runGit(repository, ['merge-base', '--is-ancestor', commit, by])).code === 0;
}
