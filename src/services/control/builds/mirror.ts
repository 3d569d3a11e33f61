import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, readdir, rm, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { missingCodes, unlessCode } from '../../../kit/errors.ts';
import { stepFailed, succeeded, type BuildRequest, type StepResult } from './build.ts';
import { removeTree } from './remove-tree.ts';
import type { CommandEnd } from './run-command.ts';

export const mirrorsFolder = (dataDir: string): string => join(dataDir, 'mirrors');

/** The folder of a repository's mirror. Tenants and integrations share no mirror, because their credentials differ. */
export function mirrorFolder(dataDir: string, owner: MirrorOwner, address: string): string {
  const name = sha256(JSON.stringify([owner.integrationId ?? null, address]));
  return join(mirrorsFolder(dataDir), owner.tenantId, name.slice(0, 32));
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
  | { kind: 'refused'; output: string; reason: string; isLate: boolean; isNoCommit?: boolean }
  | { kind: 'interrupted' };

/** The number of packs from which a mirror is created again: each fetch adds one, and many packs are slow. */
const maxPacks = 100;

/**
 * Prepares a mirror: removes the leftovers of a killed git, and creates an empty mirror where it is missing or broken.
 * Returns whether it existed before. Call it in the folder's queue.
 */
export async function openMirror(folder: string, git: RunGit): Promise<StepResult<'new' | 'existing'>> {
  if (isRepository(folder) && countPacks(folder) < maxPacks) {
    await removeLeftovers(folder);
    const now = new Date();
    await utimes(folder, now, now);
    return succeeded('existing');
  }
  await removeTree(folder);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const created = await git(['init', '--bare', '--quiet', '--template=', '.']);
  return created.kind === 'done'
    ? succeeded('new')
    : stepFailed(created.kind === 'failed' ? (created.cause ?? created.reason) : '');
}

/** Whether a folder has all that git requires of a repository. */
const isRepository = (folder: string): boolean =>
  ['HEAD', 'objects', 'refs', 'config'].every((name) => existsSync(join(folder, name)));

const countPacks = (folder: string): number =>
  unlessCode(missingCodes, [], () => readdirSync(join(folder, 'objects/pack'))).filter((name) => name.endsWith('.pack'))
    .length;

/** Removes the leftovers of a killed or failed git from a mirror. Call it in the folder's queue. */
export async function removeLeftovers(folder: string): Promise<void> {
  const leftovers = (await readdir(folder, { recursive: true, withFileTypes: true })).filter(
    ({ name }) => name.endsWith('.lock') || name.startsWith('tmp_') || name.startsWith('.tmp-'),
  );
  for (const { parentPath, name } of leftovers) await rm(join(parentPath, name), { recursive: true, force: true });
}

/**
 * Fetches one ref into a mirror, without history and tags, and returns its commit. A refusal comes with git's output.
 * The mirror's configuration never contains the remote's address or token.
 */
export async function fetchInto({ address, ref, isCommit }: FetchRequest, git: RunGit): Promise<FetchResult> {
  const mirrorRef = `refs/landfall/${sha256(ref)}`;
  const commitOf = async (name: string): Promise<string | undefined> => {
    const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`];
    const parsed = await git(args, { silent: true });
    return parsed.kind === 'done' ? parsed.output[0] : undefined;
  };
  if (isCommit && (await commitOf(ref)) !== undefined) return { kind: 'fetched', commit: ref };
  const options = ['--depth', '1', '--no-tags', '--no-recurse-submodules', '--no-progress', '--quiet', '--force'];
  const args = ['fetch', ...options, '--no-write-fetch-head', '--', address, `${ref}:${mirrorRef}`];
  const fetched = await git(args, { remote: true });
  if (fetched.kind === 'interrupted') return fetched;
  if (fetched.kind === 'failed') {
    const { output, isLate, reason, cause } = fetched;
    return { kind: 'refused', output: output.join('\n'), reason: isLate ? reason : (cause ?? reason), isLate };
  }
  const commit = await commitOf(mirrorRef);
  return commit === undefined
    ? { kind: 'refused', output: '', reason: '', isLate: false, isNoCommit: true }
    : { kind: 'fetched', commit };
}
