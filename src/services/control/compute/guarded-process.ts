import { spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { unlessCode } from '../../../kit/errors.ts';
import { pause, type Clock } from '../../../kit/clock.ts';
import { existsSync } from 'node:fs';

/** `unstartable`: it never ran. */
export type ProcessEnd =
  { kind: 'exited'; code: number } | { kind: 'killed'; signal: string } | { kind: 'unstartable'; reason: string };

/** A user of this machine by its ids; it needs no line in `/etc/passwd`. */
export interface ProcessUser {
  uid: number;
  gid: number;
}

export interface ProcessSpec {
  command: string;
  args: readonly string[];
  cwd: string;
  env: Record<string, string>;
  /** Whether the process gets a standard input that we can close; else it has none. */
  withInput: boolean;
  /** The seconds that it may take to exit once this service is gone. */
  graceSeconds: number;
  /** Runs it as this user, in no other group, which needs root; as this service's own user when absent. */
  user?: ProcessUser | undefined;
  /** How long to wait for the output after exit code 0, until `kill`: a slow reader loses nothing (ms). */
  outputMs?: number;
  /** Runs a program of the machine without the limits of `confine`. */
  trusted?: boolean;
}

/** A process with its children, in a process group that can't outlive this service, with the limits of `confine`. */
export interface GuardedProcess {
  /** The id of the process and of its group; undefined when it never ran. */
  pid: number | undefined;
  stdin: Writable | null;
  stdout: Readable;
  stderr: Readable;
  /** Resolves when the process has ended, its children are killed and its output is read. */
  ended: Promise<ProcessEnd>;
  kill: () => void;
}

/**
 * The guard waits on a pipe whose other end only we hold. When this service ends, even by `kill -9`, it kills the group
 * that it shares with the process, whose id is not reused while the guard lives.
 */
const leash = (confinement: string): string =>
  `{ read -r _; sleep "$1"; kill -s KILL 0; } <&3 >/dev/null 2>&1 & cd -P -- "$2" 2>/dev/null || { echo "The folder to start in could not be entered." >&2; exit 126; }; shift 2; exec 3<&-; ${confinement}; exec "$@"`;

/** How long to wait for output after the exit, when a grandchild outside the group keeps the pipe open. */
const lastWordsMs = 1_000;

export function startGuarded(spec: ProcessSpec, clock: Clock): GuardedProcess {
  const { command, args, cwd, env, withInput, graceSeconds, user, outputMs = 0, trusted = false } = spec;
  const script = leash(trusted ? ':' : confine(user !== undefined));
  const run = [...(trusted ? [] : noNewPrivileges), command, ...args];
  const child = spawn('/bin/sh', ['-c', script, 'leash', String(graceSeconds), cwd, ...run], {
    // Node.js would enter the folder before it switches the user. The shell does it afterwards, with that user's
    // rights:
    // a link in the folder's place leads no further than the user can go.
    cwd: '/',
    env,
    detached: true,
    stdio: [withInput ? 'pipe' : 'ignore', 'pipe', 'pipe', 'pipe'],
    // With both ids Node.js also drops all supplementary groups.
    ...(user === undefined ? {} : { uid: user.uid, gid: user.gid }),
  });
  const { stdout, stderr } = child;
  if (!stdout || !stderr) throw new Error('a process was spawned without its pipes');
  // A closing guard, or a process that exits during a write, is no error here.
  for (const pipe of [child.stdin, child.stdio[3]]) pipe?.on('error', () => undefined);
  let killed = false;
  const killGroup = (): void => {
    const { pid } = child;
    if (pid === undefined || killed) return;
    killed = true;
    unlessCode(['ESRCH'], false, () => process.kill(-pid, 'SIGKILL'));
  };

  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const left = new Promise<ProcessEnd>((resolve) => {
    child.once('error', (error) => resolve({ kind: 'unstartable', reason: error.message }));
    child.once('exit', (code, signal) =>
      resolve(code === null ? { kind: 'killed', signal: signal ?? 'unknown' } : { kind: 'exited', code }),
    );
  });
  const enough = new AbortController();
  const untilReadToTheEnd = async (): Promise<ProcessEnd> => {
    const end = await left;
    killGroup();
    const silence = new AbortController();
    await Promise.race([closed, pause(clock, lastWordsMs, silence.signal)]);
    if (end.kind === 'exited' && end.code === 0 && outputMs > 0) {
      await Promise.race([closed, pause(clock, outputMs, AbortSignal.any([silence.signal, enough.signal]))]);
    }
    silence.abort();
    stdout.destroy();
    stderr.destroy();
    return end;
  };
  const ended = untilReadToTheEnd();
  const kill = (): void => {
    enough.abort();
    killGroup();
  };
  return { pid: child.pid, stdin: child.stdin, stdout, stderr, ended, kill };
}

const openFiles = 16_384;
/** Processes and threads of one user, shared by all of a deployment's builds and agents. */
const processes = 1_024;
/** The OOM score adjustment: 1,000 is killed first of all. */
const firstToGo = 500;

/** The limits that a shell sets. Processes are counted per user, so they are limited for a deployment's own only. */
function confine(ownUser: boolean): string {
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

/** The prefix of a command that denies its programs new privileges (as by `sudo`); empty where that is unavailable. */
const noNewPrivileges = ['/usr/bin/setpriv', '/bin/setpriv', '/usr/sbin/setpriv', '/sbin/setpriv']
  .filter((path) => existsSync(path))
  .slice(0, 1)
  .flatMap((setpriv) => [setpriv, '--no-new-privs', '--']);
