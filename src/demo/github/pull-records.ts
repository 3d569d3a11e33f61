/** What git says of a pull request; its text is the emulated GitHub's. */
export interface PullRecord {
  number: number;
  repositoryId: number;
  headRepositoryId: number;
  headRef: string;
  headSha: string;
  baseRef: string;
  /** The base branch's commit when it was opened. */
  baseSha: string;
  isClosed: boolean;
}

/** Pull requests by repository and number. */
export class PullRecords {
  readonly #all: PullRecord[] = [];

  keep(record: PullRecord): void {
    this.#all.push(record);
  }

  byNumber(repositoryId: number, number: number): PullRecord | undefined {
    return this.#all.find((each) => each.repositoryId === repositoryId && each.number === number);
  }

  /** Those whose head is this branch, in whatever repository they were opened. */
  ofBranch(headRepositoryId: number, headRef: string): PullRecord[] {
    return this.#all.filter((each) => each.headRepositoryId === headRepositoryId && each.headRef === headRef);
  }
}
