import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { withTimeout, type Clock } from '../../../kit/clock.ts';
import { pathWithOurNode } from '../compute/agent-environment.ts';
import { stepFailed, succeeded, type StepResult } from '../builds/build.ts';
import { remoteOf } from '../builds/check-out.ts';
import { gitConfig, gitVariables } from '../builds/git-settings.ts';

interface BranchHeadsDependencies {
  /** For git's one configuration file. */
  dataDir: string;
  /** Folders of this machine whose repositories may be read; absolute paths. */
  allowGit: readonly string[];
  clock: Clock;
}

/** The limits of one query: its time in milliseconds, and its output in bytes. */
const withinMs = 20_000;
const maxBytes = 16 * 1024 ** 2;

/** Gets the commits of a repository's branches by name, or the reason why it can't. */
export type BranchHeads = (repoUrl: string, signal: AbortSignal) => Promise<StepResult<ReadonlyMap<string, string>>>;

/** Creates the query. It follows the same rules as a clone, so that no address reaches further. */
export function branchHeads({ dataDir, allowGit, clock }: BranchHeadsDependencies): BranchHeads {
  const configFile = join(dataDir, 'pushes', 'gitconfig');
  mkdirSync(dirname(configFile), { recursive: true, mode: 0o700 });
  writeFileSync(configFile, gitConfig);

  return async (repoUrl, signal) => {
    const remote = remoteOf(repoUrl, allowGit);
    if (!remote.ok) return remote;
    const { address, protocol } = remote.value;
    const variables = { PATH: pathWithOurNode(process.env.PATH ?? ''), ...gitVariables(configFile, protocol) };
    return withTimeout(clock, withinMs, (bound) => lsRemote(address, { env: variables, signal: bound }), signal);
  };
}

function lsRemote(address: string, { env, signal }: { env: Record<string, string>; signal: AbortSignal }) {
  return new Promise<StepResult<ReadonlyMap<string, string>>>((resolve) => {
    const options = { env, signal, maxBuffer: maxBytes, killSignal: 'SIGKILL' } as const;
    const args = ['ls-remote', '--heads', '--quiet', '--', address];
    const child = execFile('git', args, options, (error, printed, said) => {
      if (error) resolve(stepFailed(said.trim().split('\n').at(-1) || error.message));
      else resolve(succeeded(readHeads(printed)));
    });
    child.stdin?.end();
  });
}

/** Reads what `git ls-remote` prints: a commit, a tab, and the full name of a ref. */
export function readHeads(printed: string): ReadonlyMap<string, string> {
  const heads = new Map<string, string>();
  for (const line of printed.split('\n')) {
    const read = /^([0-9a-f]{40,64})\trefs\/heads\/(.+)$/.exec(line);
    if (read?.[1] && read[2]) heads.set(read[2], read[1]);
  }
  return heads;
}
