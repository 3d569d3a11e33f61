import { spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { pause, type Clock } from '../../clock.ts';
import { confine, noNewPrivileges } from './confinement.ts';

/** How a process ended. `unstartable`: it never ran. */
export type ProcessEnd =
  { kind: 'exited'; code: number } | { kind: 'killed'; signal: string } | { kind: 'unstartable'; reason: string };

/** A user of this machine by its numbers; it needs no line in `/etc/passwd`. */
export interface ProcessUser {
  uid: number;
  gid: number;
}

export interface ProcessSpec {
  command: string;
  args: readonly string[];
  cwd: string;
  /** The whole environment: nothing of ours is added. */
  env: Record<string, string>;
  /** Whether the process gets a standard input that we can close; else it reads from nothing. */
  withInput: boolean;
  /** Seconds it is given to end by itself once this service is gone. */
  graceSeconds: number;
  /**
   * Runs it as this user, in no other group, which takes root; as this service's own user when absent. A deployment's
   * agents and the commands of its builds get the deployment's user: `AgentSpec.user` and `BuildRequest.user`. It has to
   * be able to reach `cwd`, the command and what that reads.
   */
  user?: ProcessUser | undefined;
  /**
   * Milliseconds that the output of one that exited with 0 is waited for, until `kill` is called: a slow reader loses
   * nothing of it. A second when absent.
   */
  outputMs?: number;
  /** Runs a program of the machine's own as it is, without the bounds of `confinement.ts`; they hold when absent. */
  trusted?: boolean;
}

/**
 * A process and all that it started, in a process group of its own that can not outlive this service, and confined as
 * `confinement.ts` says.
 */
export interface LeashedProcess {
  /** The id of the process and of its group; undefined when it never ran. */
  pid: number | undefined;
  stdin: Writable | null;
  stdout: Readable;
  stderr: Readable;
  /** Resolves when the process has ended, its children are killed and its output is read. */
  ended: Promise<ProcessEnd>;
  /** Kills the whole group at once. */
  kill: () => void;
}

/**
 * The guard waits on a pipe whose other end only we hold. However we end, `kill -9` included, the pipe closes, and the
 * guard kills the group that it shares with the process. As long as the guard lives, the group's id is not given to
 * anybody else, so that sweeping up after the process can't hit a stranger.
 */
const leash = (confinement: string): string =>
  `{ read -r _; sleep "$1"; kill -s KILL 0; } <&3 >/dev/null 2>&1 & cd -P -- "$2" 2>/dev/null || { echo "The folder to start in could not be entered." >&2; exit 126; }; shift 2; exec 3<&-; ${confinement}; exec "$@"`;

/** How long output is waited for after the end, when a grandchild that left the group keeps it open. */
const lastWordsMs = 1_000;

/** Starts a process on the leash. */
export function startLeashed(spec: ProcessSpec, clock: Clock): LeashedProcess {
  const { command, args, cwd, env, withInput, graceSeconds, user, outputMs = 0, trusted = false } = spec;
  const script = leash(trusted ? ':' : confine(user !== undefined));
  const run = [...(trusted ? [] : noNewPrivileges), command, ...args];
  const child = spawn('/bin/sh', ['-c', script, 'leash', String(graceSeconds), cwd, ...run], {
    // Node.js enters a folder before it becomes the user. The shell enters it afterwards, with that user's rights alone:
    // what the user may have put in the place of the folder leads it nowhere else.
    cwd: '/',
    env,
    detached: true,
    stdio: [withInput ? 'pipe' : 'ignore', 'pipe', 'pipe', 'pipe'],
    // Beside the two numbers Node.js gives up every supplementary group.
    ...(user === undefined ? {} : { uid: user.uid, gid: user.gid }),
  });
  const { stdout, stderr } = child;
  if (!stdout || !stderr) throw new Error('a process was spawned without its pipes');
  // The guard's end closing, or a process that ends while we write to it, is no error of ours.
  for (const pipe of [child.stdin, child.stdio[3]]) pipe?.on('error', () => undefined);
  let killed = false;
  const killGroup = (): void => {
    if (child.pid === undefined || killed) return;
    killed = true;
    signalGroup(child.pid);
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

function signalGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    const gone = error instanceof Error && 'code' in error && error.code === 'ESRCH';
    if (!gone) throw error;
  }
}
