import { execFile } from 'node:child_process';
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A git repository on this machine that a person works in. */
export class Repository {
  readonly folder: string;
  /** The folder that its files were copied from. */
  readonly example: string;

  private constructor(folder: string, example: string) {
    this.folder = folder;
    this.example = example;
  }

  /** Creates a repository with the files of an example in one commit on `main`. */
  static async fromExample(example: string, folder: string): Promise<Repository> {
    await mkdir(folder, { recursive: true });
    await cp(example, folder, { recursive: true, filter: (path) => !relative(example, path).includes('node_modules') });
    const repository = new Repository(folder, example);
    await repository.#git('init', '--quiet', '--initial-branch=main');
    await repository.commit('Begin');
    return repository;
  }

  /** Replaces `from` in a file. @throws Error if the file does not contain it. */
  edit(file: string, from: string | RegExp, to: string): Promise<void> {
    return edit(join(this.folder, file), from, to);
  }

  /**
   * Commits everything and returns the commit.
   *
   * @param author as in `Ada Moreno <ada@example.com>`; the demo's own when absent.
   */
  async commit(message: string, author?: string): Promise<string> {
    await this.#git('add', '--all');
    const authorArgs = author === undefined ? [] : ['--author', author];
    await this.#git('commit', '--quiet', ...authorArgs, '--message', message);
    return this.head();
  }

  /** Works on a branch from here on, which begins at the newest commit. */
  async branch(name: string): Promise<void> {
    await this.#git('checkout', '--quiet', '-B', name);
  }

  /** Sets the address that pushes go to; it may contain a token. */
  async pushTo(url: string): Promise<void> {
    await this.#git('remote', 'add', 'origin', url);
  }

  /** Pushes what is there to a branch by force, also after it was reset. */
  async push(branch = 'main'): Promise<void> {
    await this.#git('push', '--quiet', '--force', 'origin', `HEAD:${branch}`);
  }

  /** Resets the branch and its files to an earlier commit. */
  async goBackTo(commit: string): Promise<void> {
    await this.#git('reset', '--quiet', '--hard', commit);
  }

  /** The newest commit. */
  async head(): Promise<string> {
    return (await this.#git('rev-parse', 'HEAD')).trim();
  }

  async #git(...args: string[]): Promise<string> {
    const identity = ['-c', 'user.name=Demo', '-c', 'user.email=demo@localhost', '-c', 'commit.gpgsign=false'];
    const { stdout } = await run('git', [...identity, '-C', this.folder, ...args], {
      env: { PATH: process.env['PATH'], HOME: this.folder, GIT_CONFIG_NOSYSTEM: '1' },
    });
    return stdout;
  }
}

/** Replaces `from` in a file. @throws Error if the file does not contain it. */
export async function edit(file: string, from: string | RegExp, to: string): Promise<void> {
  const text = await readFile(file, 'utf8');
  const isThere = typeof from === 'string' ? text.includes(from) : from.test(text);
  if (!isThere) throw new Error(`${file} does not hold ${String(from)}`);
  await writeFile(file, text.replace(from, to));
}
