import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { git } from '../../../src/demo/github/git/commits.ts';
import { problemsOf } from './openapi.ts';
import { startWholeGitHub, type WholeGitHub, type WholeGitHubSettings } from './whole-github.ts';

/** GitHub for one test: every exchange is held against GitHub's own document. */
export interface TestGitHub {
  github: WholeGitHub;
  /** In which exchanges differed from GitHub's document so far. */
  problems: string[];
  /** What went wrong in the gateway itself. */
  errors: unknown[];
  /** A folder for clones and the like. */
  folder: string;
  /** Makes a folder with these files. */
  files(files: Record<string, string>): Promise<string>;
  /** Clones a repository to push from it. */
  clone(fullName: string, login?: string): Promise<Clone>;
  /** Ends everything, and throws where anything was not as GitHub's document says. */
  stop(): Promise<void>;
}

/** A person's working copy. */
export interface Clone {
  folder: string;
  git(...args: string[]): Promise<string>;
  /** Writes files and commits. @returns the commit. */
  commit(message: string, files: Record<string, string>): Promise<string>;
  push(...args: string[]): Promise<void>;
}

export async function testGitHub(settings: Omit<WholeGitHubSettings, 'folder'> = {}): Promise<TestGitHub> {
  const folder = await mkdtemp(join(tmpdir(), 'landfall-github-'));
  const problems: string[] = [];
  const errors: unknown[] = [];
  const github = await startWholeGitHub({
    ...settings,
    folder: join(folder, 'repositories'),
    onExchange: (exchange) => {
      problems.push(...problemsOf(exchange));
      settings.onExchange?.(exchange);
    },
    onError: (error) => errors.push(error),
  });
  let next = 0;
  const write = async (at: string, files: Record<string, string>): Promise<void> => {
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(at, path)), { recursive: true });
      await writeFile(join(at, path), text);
    }
  };
  return {
    github,
    problems,
    errors,
    folder,
    async files(files) {
      const at = join(folder, `files-${(next += 1)}`);
      await mkdir(at);
      await write(at, files);
      return at;
    },
    async clone(fullName, login) {
      const at = join(folder, `clone-${(next += 1)}`);
      await git(folder, 'clone', '--quiet', github.pushUrl(fullName, login), at);
      const run = (...args: string[]): Promise<string> => git(at, ...args);
      return {
        folder: at,
        git: run,
        async commit(message, files) {
          await write(at, files);
          await run('add', '--all');
          await run('commit', '--quiet', '--allow-empty', '--message', message);
          return run('rev-parse', 'HEAD');
        },
        async push(...args) {
          await run('push', '--quiet', ...(args.length > 0 ? args : ['origin', 'HEAD']));
        },
      };
    },
    async stop() {
      await github.stop();
      await rm(folder, { recursive: true, force: true });
      if (errors.length > 0) throw new AggregateError(errors, 'the gateway itself failed');
      if (problems.length > 0) throw new Error(`not as GitHub's document says:\n${problems.join('\n')}`);
    },
  };
}
