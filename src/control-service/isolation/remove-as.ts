import { once } from 'node:events';
import { spawn } from 'node:child_process';
import type { ProcessUser } from '../compute/leashed-process.ts';

/** The timeout of a removal, in milliseconds. */
const withinMs = 300_000;

/**
 * Removes trees that belong to a user, with that user's rights: with root's, one of its processes could swap a folder for
 * a link and have something else removed. Closed folders are opened first. An entry in a folder of another owner (mostly
 * the trees themselves) stays, emptied.
 *
 * @returns resolves when everything removable is gone; never rejects for the rest.
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
    // The user's other processes can suspend this one, or create files as fast as it removes them.
    timeout: withinMs,
    killSignal: 'SIGKILL',
  });
  await once(child, 'close');
}
