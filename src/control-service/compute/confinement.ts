import { existsSync } from 'node:fs';

/** Files and connections that a process may have open at once. */
const openFiles = 16_384;
/** Processes and threads of one user, which all of a deployment's builds and agents share. */
const processes = 1_024;
/** How much sooner than others the kernel ends it when the machine runs out of memory: 1,000 is first of all. */
const firstToGo = 500;

/**
 * What a shell does to itself before it becomes the process, without any program of the machine: files are its own
 * alone, temporary ones too where it has a folder for them, no memory image is left of a crash, and what can be bounded is. A bound that is lower already stays. The number
 * of processes counts for a user as a whole, so only one that is the deployment's own is bounded in it.
 */
export function confine(ownUser: boolean): string {
  return [
    'umask 077',
    'ulimit -c 0 2>/dev/null',
    `ulimit -n ${openFiles} 2>/dev/null`,
    // Shells spell it differently.
    ...(ownUser ? [`ulimit -u ${processes} 2>/dev/null || ulimit -p ${processes} 2>/dev/null`] : []),
    // Made by the process itself: it may lie where the user of the process could exchange it for a link.
    '[ -z "$TMPDIR" ] || [ -d "$TMPDIR" ] || mkdir -p "$TMPDIR"',
    `{ echo ${firstToGo} >/proc/self/oom_score_adj; } 2>/dev/null`,
  ].join('; ');
}

const setpriv = ['/usr/bin/setpriv', '/bin/setpriv', '/usr/sbin/setpriv', '/sbin/setpriv'].find((path) =>
  existsSync(path),
);

/** What stands before a command so that no program it runs may give it rights, as `sudo` would; nothing where that is not to be had. */
export const noNewPrivileges: readonly string[] = setpriv === undefined ? [] : [setpriv, '--no-new-privs', '--'];
