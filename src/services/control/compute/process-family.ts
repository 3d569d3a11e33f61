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
  /** Measures them; `seen` is a list of all processes, where the caller has one. */
  usage(seen?: readonly ProcessInfo[]): Usage;
  /** Kills every one of them; resolves when none is left. */
  kill(): Promise<void>;
  /** Kills them for the last time: the family then claims no more processes. */
  end(): Promise<void>;
}

interface FamilyTraits {
  mark: readonly [name: string, value: string];
  /** The deployment's own user, if any: every process of that user counts. */
  user: ProcessUser | undefined;
}

/** The most scans for processes that a killed one may have started, and their interval (ms). */
const maxRounds = 100;
const roundMs = 10;

interface ActiveFamily {
  user: ProcessUser | undefined;
  findMembers: (seen: readonly ProcessInfo[]) => ProcessInfo[];
}

/** A process that no family claims may belong to any family of its user. */
const activeFamilies = new Set<ActiveFamily>();

/**
 * Scans for a family: processes with the mark, or whose parent belonged to it in the last scan, so that those which
 * call `setsid` are found. With a user of its own, every other process of that user counts too, and ends with the last
 * family of that user. Without `/proc` nothing is found.
 */
export function processFamily({ mark: [name, value], user }: FamilyTraits, clock: Clock): ProcessFamily {
  let membership = new Map<string, boolean>();

  function findMembers(seen: readonly ProcessInfo[]): ProcessInfo[] {
    const byPid = new Map(seen.map((process) => [process.pid, process]));
    const nextMembership = new Map<string, boolean>();
    const belongs = (process: ProcessInfo): boolean => {
      const id = `${process.pid} ${process.startedAt}`;
      const known = nextMembership.get(id);
      if (known !== undefined) return known;
      nextMembership.set(id, false);
      const parent = byPid.get(process.parent);
      const isMember =
        membership.get(id) === true ||
        (((parent !== undefined && belongs(parent)) ||
          (membership.get(id) === undefined && variableOf(process.pid, name) === value)) &&
          canBelong(process, user));
      nextMembership.set(id, isMember);
      return isMember;
    };
    const members = seen.filter(belongs);
    membership = nextMembership;
    return members;
  }

  const family: ActiveFamily = { user, findMembers: findMembers };
  activeFamilies.add(family);

  /** The members, and the processes of the user that no family claims. */
  function withUnclaimed(seen: readonly ProcessInfo[]): ProcessInfo[] {
    const mine = findMembers(seen);
    return user === undefined ? mine : [...mine, ...unclaimedProcesses(user, seen)];
  }

  const isLastOfUser = (): boolean =>
    [...activeFamilies].every((other) => other === family || other.user?.uid !== user?.uid);

  /** The processes to kill. Unclaimed ones are killed only with the user's last family. */
  const toKill = (): ProcessInfo[] => (isLastOfUser() ? withUnclaimed(listProcesses()) : findMembers(listProcesses()));

  async function kill(): Promise<void> {
    if (user && isLastOfUser()) await killUser(user.uid);
    await killAll(toKill, clock);
  }

  return {
    mark: { [name]: value },
    usage(seen = listProcesses()) {
      const mine = withUnclaimed(seen);
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
function canBelong({ pid }: ProcessInfo, user: ProcessUser | undefined): boolean {
  if (user === undefined) return true;
  const uid = userOf(pid);
  return uid === user.uid || uid === process.getuid?.();
}

/** The processes of a user that belong to no family of that user. */
function unclaimedProcesses({ uid }: ProcessUser, seen: readonly ProcessInfo[]): ProcessInfo[] {
  const families = [...activeFamilies].filter(({ user }) => user?.uid === uid);
  const claimed = new Set(families.flatMap(({ findMembers }) => findMembers(seen).map(({ pid }) => pid)));
  return (processesByUser(seen).get(uid) ?? []).filter(({ pid }) => !claimed.has(pid));
}

const processesOfScan = new WeakMap<readonly ProcessInfo[], ReadonlyMap<number | undefined, ProcessInfo[]>>();

/** Groups the processes of one scan by user, once for all families. */
function processesByUser(seen: readonly ProcessInfo[]): ReadonlyMap<number | undefined, ProcessInfo[]> {
  const users = processesOfScan.get(seen) ?? Map.groupBy(seen, ({ pid }) => userOf(pid));
  processesOfScan.set(seen, users);
  return users;
}

/** Kills processes until a scan finds none. */
export async function killAll(scan: () => ProcessInfo[], clock: Clock): Promise<void> {
  for (let round = 0; round < maxRounds; round += 1) {
    const left = scan();
    if (left.length === 0) return;
    for (const { pid } of left) kill(pid);
    await clock.sleep(roundMs);
  }
}

const kill = (pid: number): boolean => unlessCode(['ESRCH', 'EPERM'], false, () => process.kill(pid, 'SIGKILL'));

/** The timeout (ms) for sending the signal: processes of the same user can stop the sender. */
const maxSignalMs = 1_000;

/**
 * Kills all processes of another user with one signal, as root, so that a process can't escape by starting the next one
 * and exiting. The user's processes could stop the sender first, so it has a timeout.
 */
async function killUser(uid: number): Promise<void> {
  if (process.getuid?.() !== 0 || uid === 0) return;
  const child = spawn('/bin/sh', ['-c', 'kill -s KILL -- -1'], {
    uid,
    gid: uid,
    cwd: '/',
    env: {},
    stdio: 'ignore',
    timeout: maxSignalMs,
    killSignal: 'SIGKILL',
  });
  await new Promise<void>((resolve) => child.once('error', () => resolve()).once('exit', () => resolve()));
}

/** Kills every process of some users, except root; works as root on Linux. Returns how many it killed. */
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
