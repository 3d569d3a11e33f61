import type { JsonObject } from '../exchange.ts';
import { repositoryUrl, type Site } from '../site.ts';
import { fullNameOf, type Repository } from '../repositories.ts';

/** What git says of a pull request; its text, state and talk are the emulated GitHub's. */
export interface PullRecord {
  id: number;
  number: number;
  repositoryId: number;
  headRepositoryId: number;
  headRef: string;
  headSha: string;
  baseRef: string;
  /** The base branch's commit when it was opened. */
  baseSha: string;
  isOpen: boolean;
  /** The commit that brought it into the base branch. */
  mergedAs?: string;
}

/** Pull requests by repository and number. */
export class PullRecords {
  readonly #all: PullRecord[] = [];

  keep(record: PullRecord): void {
    this.#all.push(record);
  }

  of(repositoryId: number): readonly PullRecord[] {
    return this.#all.filter((each) => each.repositoryId === repositoryId);
  }

  byNumber(repositoryId: number, number: number): PullRecord | undefined {
    return this.of(repositoryId).find((each) => each.number === number);
  }

  /** Open ones whose head is this branch, in whatever repository they were opened. */
  ofBranch(headRepositoryId: number, headRef: string): PullRecord[] {
    return this.#all.filter(
      (each) => each.isOpen && each.headRepositoryId === headRepositoryId && each.headRef === headRef,
    );
  }
}

/** The open pull requests of a commit as checks name them: those of forks are left out, as GitHub does. */
export function pullsOfCommit(site: Site, repository: Repository, sha: string): JsonObject[] {
  const repo = { id: repository.id, url: repositoryUrl(site, repository), name: repository.name };
  return site.pulls
    .of(repository.id)
    .filter(({ isOpen, headSha, headRepositoryId }) => isOpen && headSha === sha && headRepositoryId === repository.id)
    .map(({ id, number, headRef, headSha, baseRef, baseSha }) => ({
      id,
      number,
      url: `${site.url}/repos/${fullNameOf(repository)}/pulls/${number}`,
      head: { ref: headRef, sha: headSha, repo },
      base: { ref: baseRef, sha: baseSha, repo },
    }));
}
