import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, readdir, rm, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { missingCodes, unlessCode } from '../../errors.ts';
import type { BuildOwner, StepResult } from './build.ts';
import { stepFailed, succeeded } from './build.ts';
import { removeTree } from './remove-tree.ts';
import type { CommandEnd } from './run-command.ts';

export const mirrorsIn = (dataDir: string): string => join(dataDir, 'mirrors');

/**
 * The folder of a repository's mirror. Separate for each tenant and integration, so that no build reads what only another
 * one's credentials gave access to.
 */
export function mirrorFolder(dataDir: string, { tenantId, integrationId }: BuildOwner, address: string): string {
  const name = createHash('sha256')
    .update(JSON.stringify([integrationId ?? null, address]))
    .digest('hex');
  return join(mirrorsIn(dataDir), tenantId, name.slice(0, 32));
}

export interface Wanted {
  address: string;
  /** `refs/heads/main`, `HEAD`, or a commit's id. */
  ref: string;
  /** Whether `ref` is a commit: then nothing is fetched if the mirror has it. */
  isCommit: boolean;
}

export type RunGit = (args: string[], options?: { silent?: boolean; remote?: boolean }) => Promise<CommandEnd>;

export type Fetched =
  | { kind: 'fetched'; commit: string }
  | { kind: 'refused'; printed: string; how: string; isLate: boolean; isNoCommit?: boolean }
  | { kind: 'interrupted' };

/** The fetches after which a mirror is created again: each leaves a pack, and many packs are slow. */
const mostPacks = 100;

/**
 * Prepares a mirror: removes what a killed git left in it (locks, partial packs), and creates an empty mirror where there
 * is none or a broken one. The caller must hold the folder's turn.
 *
 * @returns whether it held something before.
 */
export async function openMirror(folder: string, git: RunGit): Promise<StepResult<'new' | 'kept'>> {
  if (isWhole(folder) && packsIn(folder) < mostPacks) {
    await clearUp(folder);
    const now = new Date();
    await utimes(folder, now, now);
    return succeeded('kept');
  }
  await removeTree(folder);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const started = await git(['init', '--bare', '--quiet', '--template=', '.']);
  return started.kind === 'done'
    ? succeeded('new')
    : stepFailed(started.kind === 'failed' ? (started.said ?? started.how) : '');
}

/** What git itself requires before it accepts a folder as a repository. */
const isWhole = (folder: string): boolean =>
  ['HEAD', 'objects', 'refs', 'config'].every((name) => existsSync(join(folder, name)));

const packsIn = (folder: string): number =>
  unlessCode(missingCodes, [], () => readdirSync(join(folder, 'objects/pack'))).filter((name) => name.endsWith('.pack'))
    .length;

/** Removes what a killed or failed git left in a mirror. The caller must hold the folder's turn. */
export async function clearUp(folder: string): Promise<void> {
  const left = (await readdir(folder, { recursive: true, withFileTypes: true })).filter(
    ({ name }) => name.endsWith('.lock') || name.startsWith('tmp_') || name.startsWith('.tmp-'),
  );
  for (const { parentPath, name } of left) await rm(join(parentPath, name), { recursive: true, force: true });
}

/**
 * Fetches one ref into a mirror, without history and tags, and returns its commit. A refusal comes with git's output.
 * The mirror's configuration never contains the remote's address or token.
 */
export async function fetchInto({ address, ref, isCommit }: Wanted, git: RunGit): Promise<Fetched> {
  const kept = `refs/landfall/${createHash('sha256').update(ref).digest('hex')}`;
  const find = async (name: string): Promise<string | undefined> => {
    const named = await git(['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`], {
      silent: true,
    });
    return named.kind === 'done' ? named.output[0] : undefined;
  };
  if (isCommit && (await find(ref)) !== undefined) return { kind: 'fetched', commit: ref };
  const options = ['--depth', '1', '--no-tags', '--no-recurse-submodules', '--no-progress', '--quiet', '--force'];
  const fetched = await git(['fetch', ...options, '--no-write-fetch-head', '--', address, `${ref}:${kept}`], {
    remote: true,
  });
  if (fetched.kind === 'interrupted') return fetched;
  if (fetched.kind === 'failed') {
    const printed = fetched.output.join('\n');
    const { isLate } = fetched;
    const how = isLate ? fetched.how : (fetched.said ?? fetched.how);
    return { kind: 'refused', printed, how, isLate };
  }
  const commit = await find(kept);
  return commit === undefined
    ? { kind: 'refused', printed: '', how: '', isLate: false, isNoCommit: true }
    : { kind: 'fetched', commit };
}
