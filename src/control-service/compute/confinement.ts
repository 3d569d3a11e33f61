import { existsSync } from 'node:fs';

/** Open files and connections of a process. */
const openFiles = 16_384;
/** Processes and threads of one user, shared by all of a deployment's builds and agents. */
const processes = 1_024;
/** The OOM score adjustment: 1,000 is killed first of all. */
const firstToGo = 500;

/**
 * The limits that a shell sets before it executes the process: private files, a private folder for temporary files where
 * there is one, no core dumps, and resource limits. A lower limit stays. The number of processes counts per user, so it is
 * limited only for a deployment's own user.
 */
export function confine(ownUser: boolean): string {
  return [
    'umask 077',
    'ulimit -c 0 2>/dev/null',
    `ulimit -n ${openFiles} 2>/dev/null`,
    // Shells name the limit differently.
    ...(ownUser ? [`ulimit -u ${processes} 2>/dev/null || ulimit -p ${processes} 2>/dev/null`] : []),
    // Created by the process itself: the user could replace the folder with a link.
    '[ -z "$TMPDIR" ] || [ -d "$TMPDIR" ] || mkdir -p "$TMPDIR"',
    `{ echo ${firstToGo} >/proc/self/oom_score_adj; } 2>/dev/null`,
  ].join('; ');
}

const setpriv = ['/usr/bin/setpriv', '/bin/setpriv', '/usr/sbin/setpriv', '/sbin/setpriv'].find((path) =>
  existsSync(path),
);

/** The prefix of a command that denies its programs new privileges (as by `sudo`); empty where that is unavailable. */
export const noNewPrivileges: readonly string[] = setpriv === undefined ? [] : [setpriv, '--no-new-privs', '--'];
