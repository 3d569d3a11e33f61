import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { git } from './git/commits.ts';

/** A repository: its bare git repository on disk, and what GitHub knows of it. */
export interface Repository {
  id: number;
  owner: string;
  name: string;
  isPrivate: boolean;
  defaultBranch: string;
  /** The bare repository. */
  folder: string;
  /** Names it had before, as `owner/name`. */
  formerNames: string[];
}

export const fullNameOf = ({ owner, name }: Pick<Repository, 'owner' | 'name'>): string => `${owner}/${name}`;

/** All repositories, found by name without regard to case, by former names too. */
export class Repositories {
  readonly #root: string;
  readonly #all: Repository[] = [];

  /** @param root a folder of its own, for the bare repositories. */
  constructor(root: string) {
    this.#root = root;
  }

  all(): readonly Repository[] {
    return this.#all;
  }

  byName(fullName: string): Repository | undefined {
    const wanted = fullName.toLowerCase();
    return this.#all.find((each) => fullNameOf(each).toLowerCase() === wanted);
  }

  /** Also by a name that it had before. */
  byAnyName(fullName: string): Repository | undefined {
    const wanted = fullName.toLowerCase();
    return (
      this.byName(fullName) ??
      this.#all.find(({ formerNames }) => formerNames.some((name) => name.toLowerCase() === wanted))
    );
  }

  byId(id: number): Repository | undefined {
    return this.#all.find((each) => each.id === id);
  }

  /** Makes the bare repository, empty. */
  async add(made: Omit<Repository, 'folder' | 'formerNames'>): Promise<Repository> {
    const folder = this.#folderOf(made.owner, made.name);
    await mkdir(folder, { recursive: true });
    await git(folder, 'init', '--quiet', '--bare', '--template=', `--initial-branch=${made.defaultBranch}`);
    for (const [key, value] of Object.entries(bareConfig)) await git(folder, 'config', key, value);
    const repository = { ...made, folder, formerNames: [] };
    this.#all.push(repository);
    return repository;
  }

  #folderOf(owner: string, name: string): string {
    return join(this.#root, owner, `${name}.git`);
  }
}

/** Unreachable commits stay, as GitHub keeps them; any commit may be fetched by its id. */
const bareConfig = {
  'http.receivepack': 'true',
  'receive.autogc': 'false',
  'receive.denyDeleteCurrent': 'ignore',
  'gc.auto': '0',
  'uploadpack.allowAnySHA1InWant': 'true',
  'uploadpack.allowFilter': 'true',
};
