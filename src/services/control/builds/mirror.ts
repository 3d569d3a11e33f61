import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, readdir, rm, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { missingCodes, unlessCode } from '../../../kit/errors.ts';
import { stepFailed, succeeded, type BuildRequest, type StepResult } from './build.ts';
import { removeTree } from './remove-tree.ts';
import type { CommandEnd } from './run-command.ts';

export const mirrorsIn = (dataDir: string): string => join(dataDir, 'mirrors');

/** The folder of a repository's mirror. Tenants and integrations share none: their credentials differ. */
export function mirrorFolder(dataDir: string, owner: MirrorOwner, address: string): string {
  const name = sha256(JSON.stringify([owner.integrationId ?? null, address]));
  return join(mirrorsIn(dataDir), owner.tenantId, name.slice(0, 32));
}
type MirrorOwner = Pick<BuildRequest, 'tenantId' | 'integrationId'>;

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

export interface FetchRequest {
  address: string;
  /** `refs/heads/main`, `HEAD`, or a commit's id. */
  ref: string;
  /** Whether `ref` is a commit: then nothing is fetched if the mirror has it. */
  isCommit: boolean;
}

export type RunGit = (args: string[], options?: { silent?: boolean; remote?: boolean }) => Promise<CommandEnd>;

type FetchResult =
  | { kind: 'fetched'; commit: string }
  | { kind: 'refused'; printed: string; how: string; isLate: boolean; isNoCommit?: boolean }
  | { kind: 'interrupted' };

/** The fetches after which a mirror is created again: each leaves a pack, and many packs are slow. */
const maxPacks = 100;

/**
 * Prepares a mirror: removes what a killed git left in it, and creates an empty one where there is none or a broken
 * one. The caller must hold the folder's turn. Returns whether it held something before.
 */
export async function openMirror(folder: string, git: RunGit): Promise<StepResult<'new' | 'kept'>> {
  if (isWhole(folder) && packsIn(folder) < maxPacks) {
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
export async function fetchInto({ address, ref, isCommit }: FetchRequest, git: RunGit): Promise<FetchResult> {
  const kept = `refs/landfall/${sha256(ref)}`;
  const find = async (name: string): Promise<string | undefined> => {
    const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`];
    const named = await git(args, { silent: true });
    return named.kind === 'done' ? named.output[0] : undefined;
  };
  if (isCommit && (await find(ref)) !== undefined) return { kind: 'fetched', commit: ref };
  const options = ['--depth', '1', '--no-tags', '--no-recurse-submodules', '--no-progress', '--quiet', '--force'];
  const args = ['fetch', ...options, '--no-write-fetch-head', '--', address, `${ref}:${kept}`];
  const fetched = await git(args, { remote: true });
  if (fetched.kind === 'interrupted') return fetched;
  if (fetched.kind === 'failed') {
    const { output, isLate, how, said } = fetched;
    return { kind: 'refused', printed: output.join('\n'), how: isLate ? how : (said ?? how), isLate };
  }
  const commit = await find(kept);
  return commit === undefined
    ? { kind: 'refused', printed: '', how: '', isLate: false, isNoCommit: true }
    : { kind: 'fetched', commit };
}
