import { chmodSync, lchownSync, lstatSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { changeOwnerIfNeeded } from '../isolation/change-owner.ts';
import type { AgentProgram } from './compute.ts';
import type { ProcessUser } from './guarded-process.ts';

/**
 * Gives an agent's process access to its build and its home. A build from before its deployment had a user changes owner,
 * folder by folder; the parent folder stays ours and may be traversed.
 */
export async function openFolders(
  { folder, homeFolder }: Extract<AgentProgram, { kind: 'build' }>,
  user: ProcessUser | undefined,
): Promise<void> {
  const made = mkdirSync(homeFolder, { recursive: true, mode: 0o700 });
  if (!user) return;
  // Does not follow a link that the user's processes may have put in the home's place.
  if (made !== undefined) lchownSync(homeFolder, user.uid, user.gid);
  if (lstatSync(folder).uid === user.uid) return;
  chmodSync(folder, 0o711);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) await changeOwnerIfNeeded(join(folder, entry.name), user);
  }
}
