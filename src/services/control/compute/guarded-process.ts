import { spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { unlessCode } from '../../../kit/errors.ts';
import { pause, type Clock } from '../../../kit/clock.ts';
import { existsSync } from 'node:fs';

/** How a process ended; `unstartable`: it never ran. */
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
  /** Whether the process gets a standard input. */
  withInput: boolean;
  /** The seconds that it may take to exit after this service has ended. */
  graceSeconds: number;
  /** The user to run it as, without supplementary groups, which needs root; this service's own when absent. */
  user?: ProcessUser | undefined;
  /** How long to read on after exit code 0, so that a slow reader loses no output (ms). */
  outputMs?: number;
  /** Runs a program of the machine, without the limits of `confinementScript`. */
  trusted?: boolean;
}

/** A process and its children, in a process group that can't outlive this service. */
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
 * Starts a guard beside the process, in the same group. The guard waits on a pipe whose other end only this service
 * holds. When the service ends, even by `kill -9`, the guard kills the group, whose id can't be reused while it lives.
 */
const guardScript = (confinement: string): string =>
  `{ read -r _; sleep "$1"; kill -s KILL 0; } <&3 >/dev/null 2>&1 & cd -P -- "$2" 2>/dev/null || { echo "The folder to start in could not be entered." >&2; exit 126; }; shift 2; exec 3<&-; ${confinement}; exec "$@"`;

/** How long to wait for output after the exit: a grandchild outside the group may keep the pipe open. */
const lateOutputMs = 1_000;

export function startGuarded(spec: ProcessSpec, clock: Clock): GuardedProcess {
  const { command, args, cwd, env, withInput, graceSeconds, user, outputMs = 0, trusted = false } = spec;
  const script = guardScript(trusted ? ':' : confinementScript(user !== undefined));
  const commandLine = [...(trusted ? [] : noNewPrivileges), command, ...args];
  const child = spawn('/bin/sh', ['-c', script, 'guard', String(graceSeconds), cwd, ...commandLine], {
    // Node.js would enter the folder before it switches the user. The shell enters it afterwards, with that user's
    // rights, so that a link in its place leads only where the user can go.
    cwd: '/',
    env,
    detached: true,
    stdio: [withInput ? 'pipe' : 'ignore', 'pipe', 'pipe', 'pipe'],
    // With both ids Node.js also drops all supplementary groups.
    ...(user === undefined ? {} : { uid: user.uid, gid: user.gid }),
  });
  const { stdout, stderr } = child;
  if (!stdout || !stderr) throw new Error('a process was spawned without its pipes');
  // Ignore errors of the pipes: the guard may close, or the process may exit, during a write.
  for (const pipe of [child.stdin, child.stdio[3]]) pipe?.on('error', () => undefined);
  let killed = false;
  const killGroup = (): void => {
    const { pid } = child;
    if (pid === undefined || killed) return;
    killed = true;
    unlessCode(['ESRCH'], false, () => process.kill(-pid, 'SIGKILL'));
  };

  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const exited = new Promise<ProcessEnd>((resolve) => {
    child.once('error', (error) => resolve({ kind: 'unstartable', reason: error.message }));
    child.once('exit', (code, signal) =>
      resolve(code === null ? { kind: 'killed', signal: signal ?? 'unknown' } : { kind: 'exited', code }),
    );
  });
  const outputEnd = new AbortController();
  const readToEnd = async (): Promise<ProcessEnd> => {
    const end = await exited;
    killGroup();
    const waiting = new AbortController();
    await Promise.race([closed, pause(clock, lateOutputMs, waiting.signal)]);
    if (end.kind === 'exited' && end.code === 0 && outputMs > 0) {
      await Promise.race([closed, pause(clock, outputMs, AbortSignal.any([waiting.signal, outputEnd.signal]))]);
    }
    waiting.abort();
    stdout.destroy();
    stderr.destroy();
    return end;
  };
  const ended = readToEnd();
  const kill = (): void => {
    outputEnd.abort();
    killGroup();
  };
  return { pid: child.pid, stdin: child.stdin, stdout, stderr, ended, kill };
}

const maxOpenFiles = 16_384;
/** Processes and threads of one user, shared by all of a deployment's builds and agents. */
const maxProcesses = 1_024;
/** The OOM score adjustment: the higher, the earlier the kernel kills the process, up to 1,000. */
const oomScore = 500;

/** The shell commands that set limits. Processes count per user, so they are limited only for a user of its own. */
function confinementScript(hasOwnUser: boolean): string {
  return [
    'umask 077',
    'ulimit -c 0 2>/dev/null',
    `ulimit -n ${maxOpenFiles} 2>/dev/null`,
    // Shells name the limit differently.
    ...(hasOwnUser ? [`ulimit -u ${maxProcesses} 2>/dev/null || ulimit -p ${maxProcesses} 2>/dev/null`] : []),
    // Created by the process itself: the user could replace the folder with a link.
    '[ -z "$TMPDIR" ] || [ -d "$TMPDIR" ] || mkdir -p "$TMPDIR"',
    `{ echo ${oomScore} >/proc/self/oom_score_adj; } 2>/dev/null`,
  ].join('; ');
}

/** The prefix of a command that denies its programs new privileges (as by `sudo`); empty where that is unavailable. */
const noNewPrivileges = ['/usr/bin/setpriv', '/bin/setpriv', '/usr/sbin/setpriv', '/sbin/setpriv']
  .filter((path) => existsSync(path))
  .slice(0, 1)
  .flatMap((setpriv) => [setpriv, '--no-new-privs', '--']);
