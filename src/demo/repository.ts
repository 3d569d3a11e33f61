import { execFile } from 'node:child_process';
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A git repository on this machine that a person works in. */
export class Repository {
  readonly folder: string;
  /** The origin of its files. */
  readonly example: string;

  private constructor(folder: string, example: string) {
    this.folder = folder;
    this.example = example;
  }

  /** Makes a repository of an example: its files, one commit on `main`. */
  static async ofExample(example: string, folder: string): Promise<Repository> {
    await mkdir(folder, { recursive: true });
    await cp(example, folder, { recursive: true, filter: (path) => !relative(example, path).includes('node_modules') });
    const repository = new Repository(folder, example);
    await repository.#git('init', '--quiet', '--initial-branch=main');
    await repository.commit('Begin');
    return repository;
  }

  /** Puts `to` in the place of `from` in a file, which has to hold it. */
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
    const by = author === undefined ? [] : ['--author', author];
    await this.#git('commit', '--quiet', ...by, '--message', message);
    return this.head();
  }

  /** Names where the branch is pushed to; the address may hold a token. */
  async pushTo(url: string): Promise<void> {
    await this.#git('remote', 'add', 'origin', url);
  }

  /** Pushes the branch as it stands, also where it went back. */
  async push(): Promise<void> {
    await this.#git('push', '--quiet', '--force', 'origin', 'HEAD:main');
  }

  /** Takes the branch and its files back to an earlier commit. */
  async goBackTo(commit: string): Promise<void> {
    await this.#git('reset', '--quiet', '--hard', commit);
  }

  /** The newest commit. */
  async head(): Promise<string> {
    return (await this.#git('rev-parse', 'HEAD')).trim();
  }

  async #git(...args: string[]): Promise<string> {
    const who = ['-c', 'user.name=Demo', '-c', 'user.email=demo@localhost', '-c', 'commit.gpgsign=false'];
    const { stdout } = await run('git', [...who, '-C', this.folder, ...args], {
      env: { PATH: process.env['PATH'], HOME: this.folder, GIT_CONFIG_NOSYSTEM: '1' },
    });
    return stdout;
  }
}

/** Puts `to` in the place of `from` in a file, which has to hold it. */
export async function edit(file: string, from: string | RegExp, to: string): Promise<void> {
  const text = await readFile(file, 'utf8');
  const isThere = typeof from === 'string' ? text.includes(from) : from.test(text);
  if (!isThere) throw new Error(`${file} does not hold ${String(from)}`);
  await writeFile(file, text.replace(from, to));
}
