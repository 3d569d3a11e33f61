import type { Comparison, Head } from '../../../app/github/github-api.ts';

/** The outcome of a commit once it is built and tested. */
export const outcomes = ['good', 'wrong', 'flaky', 'build-fails', 'deploy-fails', 'interrupted'] as const;
/**
 * - `good` goes live and answers well, `wrong` goes live and fails its smoke tests, `flaky` goes live and can't be judged
 * - `build-fails`, `deploy-fails`, `interrupted` never go live
 */
export type Fate = (typeof outcomes)[number];

/** A commit of the model. */
export interface ModelCommit {
  sha: string;
  /** Where it was made. */
  branch: string;
  parent: string | undefined;
  message: string;
  paths: readonly string[];
  fate: Fate;
  at: number;
}

/** The repository of every history. */
export const ownUrl = 'https://github.com/acme/agents';

/** The name of a branch in the model: that of a fork stands beside the repository's own. */
export const branchOf = (repoUrl: string, ref: string): string => (repoUrl === ownUrl ? ref : `${repoUrl}#${ref}`);

/** What is written in a new commit. */
export type NewCommit = Pick<ModelCommit, 'message' | 'paths' | 'fate'>;

/** A repository's commits and branches, and every position that a branch ever had. */
export class ModelGit {
  readonly commits = new Map<string, ModelCommit>();
  readonly branches = new Map<string, string>();
  /** The history of branch heads, oldest first; `sha` is undefined after a deletion. */
  readonly moves: { branch: string; sha: string | undefined; at: number }[] = [];
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** A new commit on top of the branch, or the first of a new one; `named`: its id, where a test says it. */
  commit(branch: string, written: NewCommit, named?: string): string {
    const parent = this.branches.get(branch);
    const sha = named ?? (this.commits.size + 1).toString(16).padStart(8, '0').repeat(5);
    this.commits.set(sha, { ...written, sha, branch, parent, at: this.#now() });
    this.point(branch, sha);
    return sha;
  }

  /** Moves the branch, whatever it pointed at; `undefined` deletes it. */
  point(branch: string, sha: string | undefined): void {
    if (sha === undefined) this.branches.delete(branch);
    else this.branches.set(branch, sha);
    this.moves.push({ branch, sha, at: this.#now() });
  }

  head(branch: string): Head | undefined {
    const commit = this.commits.get(this.branches.get(branch) ?? '');
    return commit && { sha: commit.sha, message: commit.message, committedAt: commit.at };
  }

  /** Whether `ancestor` is `sha` or lies below it. */
  contains(sha: string, ancestor: string): boolean {
    for (let at = this.commits.get(sha); at; at = this.commits.get(at.parent ?? '')) {
      if (at.sha === ancestor) return true;
    }
    return false;
  }

  compare(base: string, head: string): Comparison {
    if (base === head) return { kind: 'identical' };
    const paths: string[] = [];
    for (let at = this.commits.get(head); at; at = this.commits.get(at.parent ?? '')) {
      if (at.sha === base) return { kind: 'ahead', paths: [...new Set(paths)] };
      paths.push(...at.paths);
    }
    return { kind: 'unavailable', why: 'the commits stand beside each other', contains: false };
  }
}
