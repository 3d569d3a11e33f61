import { spawn } from 'node:child_process';

/** What a git command printed and how it ended. */
export interface GitEnd {
  code: number | null;
  stdout: Buffer;
  stderr: string;
}

/** Ignores the settings of the machine and of the person, and never prompts. */
export const gitEnvironment = (): NodeJS.ProcessEnv => ({
  PATH: process.env['PATH'],
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_TERMINAL_PROMPT: '0',
  LC_ALL: 'C',
  GIT_AUTHOR_NAME: 'GitHub',
  GIT_AUTHOR_EMAIL: 'noreply@github.com',
  GIT_COMMITTER_NAME: 'GitHub',
  GIT_COMMITTER_EMAIL: 'noreply@github.com',
});

/** Runs git in a repository. Resolves however it ended; rejects only where git cannot be started. */
export function runGit(repository: string, args: readonly string[], input?: string | Buffer): Promise<GitEnd> {
  const child = spawn('git', ['-C', repository, '-c', 'core.quotePath=false', '-c', 'safe.directory=*', ...args], {
    env: gitEnvironment(),
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
  // A command that needs no input may have ended before it was given any.
  child.stdin.on('error', () => child.stdin.destroy());
  child.stdin.end(input ?? '');
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout: Buffer.concat(out), stderr: Buffer.concat(err).toString() }));
  });
}

/**
 * Runs git and returns what it printed, without the last line's end.
 *
 * @throws Error with what git said where it failed.
 */
export async function git(repository: string, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runGit(repository, args);
  if (code !== 0) throw new Error(`git ${args.join(' ')} ended with ${code}: ${stderr.trim()}`);
  return stdout.toString().replace(/\n$/, '');
}

/** Like `git`, but undefined where git says no. */
export async function gitOr(repository: string, ...args: string[]): Promise<string | undefined> {
  const { code, stdout } = await runGit(repository, args);
  return code === 0 ? stdout.toString().replace(/\n$/, '') : undefined;
}
