import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** The content of files by path; `-> target` makes a symlink. */
export type Files = Record<string, string>;

/** A folder that is removed after the test. */
export function temporaryFolder(atTheEnd: (() => void)[]): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'landfall-builds-')));
  atTheEnd.push(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Writes files below a folder. */
export function write(folder: string, files: Files): void {
  for (const [path, text] of Object.entries(files)) {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    rmSync(file, { force: true });
    if (text.startsWith('-> ')) symlinkSync(text.slice(3), file);
    else writeFileSync(file, text);
  }
}

/** Writes programs into a folder for a search path. */
export function writePrograms(folder: string, programs: Files): string {
  write(folder, programs);
  for (const name of Object.keys(programs)) chmodSync(join(folder, name), 0o755);
  return folder;
}

/** Runs git with a fixed author and without this machine's settings. */
export function git(folder: string, ...args: string[]): string {
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_AUTHOR_NAME: 'A Person',
    GIT_AUTHOR_EMAIL: 'person@example.com',
    GIT_COMMITTER_NAME: 'A Person',
    GIT_COMMITTER_EMAIL: 'person@example.com',
  };
  return execFileSync('git', args, { cwd: folder, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
}

/** Runs git with the given standard input. */
export function gitWith(input: string | Uint8Array, folder: string, ...args: string[]): string {
  return execFileSync('git', args, { cwd: folder, input, encoding: 'utf8' }).trim();
}

/** Commits files and returns the commit. */
export function commit(folder: string, files: Files): string {
  write(folder, files);
  git(folder, 'add', '--all', '--force');
  git(folder, 'commit', '--quiet', '--allow-empty', '--message', 'a change');
  return git(folder, 'rev-parse', 'HEAD');
}

/** Makes a repository with one commit on `main`. */
export function repository(folder: string, files: Files): { folder: string; commit: string } {
  mkdirSync(folder, { recursive: true });
  git(folder, 'init', '--quiet', '--initial-branch=main');
  return { folder, commit: commit(folder, files) };
}

/** The graph configuration of an agent that needs nothing. */
export const graphConfig = JSON.stringify({ graphs: { echo: './graph.js:graph' } });
export const plainAgent: Files = { 'langgraph.json': graphConfig, 'graph.js': 'export const graph = {};\n' };
