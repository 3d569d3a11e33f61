import { cp, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
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

  /** Makes the bare repository, empty or as a copy of another. */
  async add(made: Omit<Repository, 'folder' | 'formerNames'>, copyOf?: Repository): Promise<Repository> {
    const folder = this.#folderOf(made.owner, made.name);
    await mkdir(folder, { recursive: true });
    await git(folder, 'init', '--quiet', '--bare', '--template=', `--initial-branch=${made.defaultBranch}`);
    for (const [key, value] of Object.entries(bareConfig)) await git(folder, 'config', key, value);
    if (copyOf)
      await git(folder, 'fetch', '--quiet', copyOf.folder, '+refs/heads/*:refs/heads/*', '+refs/tags/*:refs/tags/*');
    const repository = { ...made, folder, formerNames: [] };
    this.#all.push(repository);
    return repository;
  }

  async rename(repository: Repository, name: string): Promise<void> {
    const folder = this.#folderOf(repository.owner, name);
    await rename(repository.folder, folder);
    repository.formerNames.push(fullNameOf(repository));
    repository.name = name;
    repository.folder = folder;
  }

  #folderOf(owner: string, name: string): string {
    return join(this.#root, owner, `${name}.git`);
  }
}

/**
 * Repositories keep their names while requests are answered: an answer is put together from several looks, and a rename
 * in their midst would make the later ones miss. Any number of requests at once, a rename alone.
 */
export class NamesAtRest {
  readonly #answering = new Set<Promise<unknown>>();
  #rename: Promise<unknown> | undefined;

  /** Runs an action that needs stable names, after all requested renames. */
  async keep<T>(act: () => Promise<T>): Promise<T> {
    while (this.#rename) await this.#rename;
    const answering = act();
    this.#answering.add(answering);
    try {
      return await answering;
    } finally {
      this.#answering.delete(answering);
    }
  }

  /** Carries out a rename, once all that began before it has ended. */
  async change<T>(act: () => Promise<T>): Promise<T> {
    const before = [...this.#answering, ...(this.#rename ? [this.#rename] : [])];
    let finish = (): void => {};
    const over = new Promise<void>((resolve) => (finish = resolve));
    this.#rename = over;
    try {
      await Promise.allSettled(before);
      return await act();
    } finally {
      if (this.#rename === over) this.#rename = undefined;
      finish();
    }
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

/** Puts a folder's files into a repository as one commit on its default branch. `node_modules` and `.git` stay out. */
export async function fillFrom(
  repository: Repository,
  from: string,
  by: { login: string; message: string },
): Promise<string> {
  const work = await mkdtemp(join(dirname(repository.folder), '.fill-'));
  try {
    const isWanted = (path: string): boolean => !/(^|[\\/])(node_modules|\.git)([\\/]|$)/.test(relative(from, path));
    await cp(from, work, { recursive: true, filter: isWanted });
    await git(work, 'init', '--quiet', '--template=', `--initial-branch=${repository.defaultBranch}`);
    await git(work, 'add', '--all');
    const author = `${by.login} <${by.login}@users.noreply.github.com>`;
    await git(work, 'commit', '--quiet', '--allow-empty', '--author', author, '--message', by.message);
    await git(work, 'push', '--quiet', repository.folder, `HEAD:refs/heads/${repository.defaultBranch}`);
    return await git(work, 'rev-parse', 'HEAD');
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}
