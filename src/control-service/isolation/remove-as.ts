import { once } from 'node:events';
import { spawn } from 'node:child_process';
import type { ProcessUser } from '../compute/leashed-process.ts';

/** How long a removal may take, in milliseconds. */
const withinMs = 300_000;

/**
 * Removes trees that belong to a user, with that user's rights: with root's, a link that one of its processes puts in
 * the place of a folder at the right moment would have something else removed. Folders that were closed are opened first.
 * What lies in a folder of somebody else's (the trees themselves, mostly) stays, emptied.
 *
 * @returns resolves when what could be removed is gone; never rejects for what could not.
 */
export async function removeAs(user: ProcessUser, paths: readonly string[]): Promise<void> {
  if (paths.length === 0) return;
  const script = 'chmod -R u+rwX -- "$@"; exec rm -rf -- "$@"';
  const child = spawn('/bin/sh', ['-c', script, 'remove', ...paths], {
    cwd: '/',
    env: { PATH: '/usr/local/bin:/usr/bin:/bin' },
    stdio: 'ignore',
    detached: true,
    uid: user.uid,
    gid: user.gid,
    // The user's other processes can stop this one, or make files as fast as it removes them.
    timeout: withinMs,
    killSignal: 'SIGKILL',
  });
  await once(child, 'close');
}
