import { unlessCode } from '../../../kit/errors.ts';
import type { Clock } from '../../../kit/clock.ts';
import type { ProcessUser } from './guarded-process.ts';
import { spawn } from 'node:child_process';
import { memoryOf, listProcesses, userOf, variableOf, type ProcessInfo } from './process-list.ts';

export interface Usage {
  processes: number;
  memoryBytes: number;
}

/** The processes of one agent or one build, also those that left the process group that they were started in. */
export interface ProcessFamily {
  /** The variable that marks a family's processes; child processes inherit it. */
  mark: Record<string, string>;
  /** Measures them, among every process of the machine, where the caller has just read these. */
  usage(seen?: readonly ProcessInfo[]): Usage;
  /** Kills every one of them; resolves when none is left. */
  kill(): Promise<void>;
  /** The same for the last time: processes found later belong to no family or to another one. */
  end(): Promise<void>;
}

interface FamilyTraits {
  mark: readonly [name: string, value: string];
  /** The deployment's own user, if any: every process of that user counts. */
  user: ProcessUser | undefined;
}

/** How often to scan for processes that a killed one may have started last, and the interval (ms). */
const maxRounds = 100;
const betweenRounds = 10;

interface ActiveFamily {
  user: ProcessUser | undefined;
  own: (seen: readonly ProcessInfo[]) => ProcessInfo[];
}

/** All active families: a process of a user that none of them claims may belong to any of that user's. */
const activeFamilies = new Set<ActiveFamily>();

/**
 * Scans for a family: processes with the mark, or whose parent belonged to it in the last scan, so that those which
 * call `setsid` are found. With a user of its own, every other process of that user counts too, and ends with the last
 * family of that user. Without `/proc` nothing is found.
 */
export function processFamily({ mark: [name, value], user }: FamilyTraits, clock: Clock): ProcessFamily {
  let known = new Map<string, boolean>();

  function own(seen: readonly ProcessInfo[]): ProcessInfo[] {
    const byPid = new Map(seen.map((process) => [process.pid, process]));
    const next = new Map<string, boolean>();
    const belongs = (process: ProcessInfo): boolean => {
      const id = `${process.pid} ${process.startedAt}`;
      const decided = next.get(id);
      if (decided !== undefined) return decided;
      next.set(id, false);
      const parent = byPid.get(process.parent);
      const does =
        known.get(id) === true ||
        (((parent !== undefined && belongs(parent)) ||
          (known.get(id) === undefined && variableOf(process.pid, name) === value)) &&
          mayBe(process, user));
      next.set(id, does);
      return does;
    };
    const mine = seen.filter(belongs);
    known = next;
    return mine;
  }

  const family: ActiveFamily = { user, own };
  activeFamilies.add(family);

  /** With those of its user that no family claims. */
  function all(seen: readonly ProcessInfo[]): ProcessInfo[] {
    const mine = own(seen);
    return user === undefined ? mine : [...mine, ...unclaimedProcesses(user, seen)];
  }

  const isLastOfUser = (): boolean =>
    [...activeFamilies].every((other) => other === family || other.user?.uid !== user?.uid);

  /** The processes to kill with it: unclaimed ones only with the user's last family. */
  const toKill = (): ProcessInfo[] => (isLastOfUser() ? all(listProcesses()) : own(listProcesses()));

  async function kill(): Promise<void> {
    if (user && isLastOfUser()) await killUser(user.uid);
    await killAll(toKill, clock);
  }

  return {
    mark: { [name]: value },
    usage(seen = listProcesses()) {
      const mine = all(seen);
      return { processes: mine.length, memoryBytes: mine.reduce((total, { pid }) => total + memoryOf(pid), 0) };
    },
    kill,
    async end() {
      try {
        await kill();
      } finally {
        activeFamilies.delete(family);
      }
    },
  };
}

/** A mark counts only on processes of the family's user or of this service: others could forge it. */
function mayBe({ pid }: ProcessInfo, user: ProcessUser | undefined): boolean {
  if (user === undefined) return true;
  const uid = userOf(pid);
  return uid === user.uid || uid === process.getuid?.();
}

/** The processes of a user that belong to no family of that user. */
function unclaimedProcesses({ uid }: ProcessUser, seen: readonly ProcessInfo[]): ProcessInfo[] {
  const families = [...activeFamilies].filter(({ user }) => user?.uid === uid);
  const claimed = new Set(families.flatMap(({ own }) => own(seen).map(({ pid }) => pid)));
  return (usersIn(seen).get(uid) ?? []).filter(({ pid }) => !claimed.has(pid));
}

const byUser = new WeakMap<readonly ProcessInfo[], ReadonlyMap<number | undefined, ProcessInfo[]>>();

/** The processes of one scan by user, looked up once for all families. */
function usersIn(seen: readonly ProcessInfo[]): ReadonlyMap<number | undefined, ProcessInfo[]> {
  const users = byUser.get(seen) ?? Map.groupBy(seen, ({ pid }) => userOf(pid));
  byUser.set(seen, users);
  return users;
}

/** Kills processes until a scan finds none. */
export async function killAll(look: () => ProcessInfo[], clock: Clock): Promise<void> {
  for (let round = 0; round < maxRounds; round += 1) {
    const left = look();
    if (left.length === 0) return;
    for (const { pid } of left) kill(pid);
    await clock.sleep(betweenRounds);
  }
}

const kill = (pid: number): boolean => unlessCode(['ESRCH', 'EPERM'], false, () => process.kill(pid, 'SIGKILL'));

/** The longest time (ms) that sending the signal may take: processes of the same user can stop the one that sends it. */
const maxSendingMs = 1_000;

/**
 * Kills all processes of another user with one signal, as root: a process that starts the next one and exits can't
 * escape this. They could stop the sender first: it is given up after a second.
 */
async function killUser(uid: number): Promise<void> {
  if (process.getuid?.() !== 0 || uid === 0) return;
  const child = spawn('/bin/sh', ['-c', 'kill -s KILL -- -1'], {
    uid,
    gid: uid,
    cwd: '/',
    env: {},
    stdio: 'ignore',
    timeout: maxSendingMs,
    killSignal: 'SIGKILL',
  });
  await new Promise<void>((resolve) => child.once('error', () => resolve()).once('exit', () => resolve()));
}

/** Kills every process of some users but 0, as root and on Linux; returns how many it killed. */
export async function killProcessesOf(uids: ReadonlySet<number>, clock: Clock): Promise<number> {
  const killed = new Set<number>();
  const left = (): ProcessInfo[] => {
    const found = listProcesses().filter(({ pid }) => {
      const uid = userOf(pid);
      return uid !== undefined && uid !== 0 && uids.has(uid);
    });
    for (const { pid } of found) killed.add(pid);
    return found;
  };
  left();
  await Promise.all([...uids].map(killUser));
  await killAll(left, clock);
  return killed.size;
}
