import { realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasCode } from '../../database/embedded/file-errors.ts';
import { readRepoRef } from '../../contract/control/repo-ref.ts';
import { readRepoUrl } from '../rules/repo-url.ts';
import { cannot, made, type BuildRequest, type GitSource, type Part } from './build.ts';
import { isWithin, type BuildFolder } from './build-folder.ts';
import { explainFetch, gitConfig, gitVariables, refToFetch, type GitProtocol } from './git-settings.ts';
import type { CommandEnd, RunCommand } from './run-command.ts';

/** What git is given to fetch from. */
interface Remote {
  address: string;
  protocol: GitProtocol;
}

/**
 * Judges a `repo_url` at the moment of use: the rules of its spelling again, and for a folder that its real path lies
 * below one that is allowed, so that no link leads out.
 */
export function remoteOf(repoUrl: string, allowGit: readonly string[]): Part<Remote> {
  const read = readRepoUrl(repoUrl, allowGit);
  if (!read.ok) return cannot(read.problem);
  if (read.kind === 'network') {
    return made({ address: read.url, protocol: new URL(read.url).protocol === 'https:' ? 'https' : 'http' });
  }
  const path = realPath(read.path);
  if (path === undefined)
    return cannot(`There is no folder ${read.path} on this machine. Check source_config.repo_url.`);
  const isAllowed = allowGit.some((folder) => {
    const real = realPath(folder);
    return real !== undefined && isWithin(real, path);
  });
  if (!isAllowed) {
    return cannot(`${read.path} leads out of the folders that the service was started to allow (--allow-git DIR).`);
  }
  return made({ address: path, protocol: 'file' });
}

/**
 * Fetches the one commit that a revision is built from and checks it out, without its history, tags and submodules.
 *
 * @returns the commit. Where the build was interrupted the reason says nothing: the caller knows.
 */
export async function checkOut(
  { repoUrl, repoRef, commit }: GitSource,
  {
    folder,
    allowGit,
    run,
    withinMs,
    log,
  }: {
    folder: BuildFolder;
    allowGit: readonly string[];
    run: RunCommand;
    withinMs: number;
    log: BuildRequest['log'];
  },
): Promise<Part<string>> {
  const remote = remoteOf(repoUrl, allowGit);
  if (!remote.ok) return remote;
  const ref = repoRef === undefined ? undefined : readRepoRef(repoRef);
  if (ref && !ref.ok) return cannot(`source_revision_config.repo_ref: ${ref.problem}.`);

  const configFile = join(folder.root, 'gitconfig');
  writeFileSync(configFile, gitConfig);
  const env = gitVariables(configFile, remote.value.protocol);
  const git = (args: string[], silent = false): Promise<CommandEnd> =>
    run({ command: 'git', args, cwd: folder.source, env, withinMs, silent });
  const what = commit ? `commit ${commit}` : ref ? `ref ${refToFetch(ref.ref)}` : 'default branch';
  log('info', `Cloning ${repoUrl}, ${what}.`);

  const begun = await git(['init', '--quiet', '--template=', '.']);
  if (begun.kind !== 'done') return cannot(`git init failed: ${reasonOf(begun)}.`);
  const options = ['--depth', '1', '--no-tags', '--no-recurse-submodules', '--no-progress', '--quiet'];
  const fetched = await git(['fetch', ...options, '--', remote.value.address, commit ?? refToFetch(ref?.ref)]);
  if (fetched.kind === 'interrupted') return cannot('');
  if (fetched.kind === 'failed') {
    return cannot(`${explainFetch(fetched.output.join('\n'), { repoUrl, what })} (git: ${reasonOf(fetched)})`);
  }
  const named = await git(['rev-parse', '--verify', '--end-of-options', 'FETCH_HEAD^{commit}'], true);
  const found = named.kind === 'done' ? named.output[0] : undefined;
  if (!found) return cannot(`The ${what} of ${repoUrl} is no commit: ${reasonOf(named)}.`);
  const checkedOut = await git(['checkout', '--quiet', '--force', '--detach', found]);
  if (checkedOut.kind !== 'done') return cannot(`Commit ${found} could not be checked out: ${reasonOf(checkedOut)}.`);
  log('info', `Checked out commit ${found}.`);
  return made(found);
}

const reasonOf = (end: CommandEnd): string => (end.kind === 'failed' ? (end.said ?? end.how) : end.kind);

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP')) return undefined;
    throw error;
  }
}
