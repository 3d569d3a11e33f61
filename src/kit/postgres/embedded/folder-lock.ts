import { randomUUID } from 'node:crypto';
import {
  existsSync,
  linkSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { hasCode, unlessCode } from '../../errors.ts';
import { type Clock, steadyNow } from '../../clock.ts';
import { processBirth, processSpace } from './process-identity.ts';
import type { Logger } from '../../logger.ts';

/** A folder that is this process's alone until it is released or the process ends. */
export interface FolderLock {
  release(): void;
}

/** Another process holds the data folder. */
export class FolderBusyError extends Error {
  constructor(folder: string, holder: Holder) {
    const where = holder.space === processSpace() ? '' : ' of another container or machine';
    super(
      `The data folder ${folder} is in use by process ${holder.pid}${where}. Stop that process first, or choose another data folder.`,
    );
    this.name = 'FolderBusyError';
  }
}

/**
 * Takes a folder for this process alone. The lock is a file that names the process; it outlives a `kill -9`, and the
 * next taker sees that the named process is gone and takes over.
 *
 * Each taker makes a file of the next higher number, which only one of several can make, and the highest number
 * counts. So no two processes can both find an old lock stale, remove it and believe the folder theirs.
 *
 * @param shownAs the folder as the person named it.
 * @throws FolderBusyError when another process holds it, or this one does already.
 */
export async function lockFolder(folder: string, shownAs: string, clock: Clock, log: Logger): Promise<FolderLock> {
  const me = { pid: process.pid, birth: processBirth(process.pid) ?? '', space: processSpace(), released: false };
  const observedSince = steadyNow(clock);
  for (let before: Lock | undefined; ;) {
    const top = highestLock(folder);
    const verdict = top === undefined ? 'free' : classifyLock(top, clock, steadyNow(clock) - observedSince);
    if (top === undefined || verdict === 'free') {
      const mine = (top?.number ?? 0) + 1;
      if (takeNumber(folder, mine, me)) return hold(folder, mine, me);
      continue;
    }
    if (verdict === 'held') {
      if (steadyNow(clock) - observedSince >= exitGraceMs) throw new FolderBusyError(shownAs, top.holder);
      await clock.sleep(50);
      continue;
    }
    if (before === undefined) {
      log.warn(`${shownAs} was in use from another container a moment ago; waiting to see whether it still is.`);
    }
    if (isSignOfLife(before, top)) throw new FolderBusyError(shownAs, top.holder);
    before = top;
    await clock.sleep(1_000);
  }
}

/** How long (ms) a process that was stopped or killed may take until it is gone. */
const exitGraceMs = 500;

interface Lock {
  number: number;
  holder: Holder;
  /** When the holder last gave a sign of life, milliseconds since the epoch. */
  beatAt: number;
}

function isSignOfLife(before: Lock | undefined, now: Lock): boolean {
  return before !== undefined && !now.holder.released && (now.number > before.number || now.beatAt !== before.beatAt);
}

function classifyLock(lock: Lock, clock: Clock, observedMs: number): 'held' | 'free' | 'wait' {
  const space = processSpace();
  const silentFor = silenceOf(clock.now() - lock.beatAt, observedMs);
  const birth = lock.holder.space === space ? processBirth(lock.holder.pid) : undefined;
  return classifyHolder(lock.holder, { space, birth, silentFor });
}

/**
 * How long a holder has been silent: by the time of day at the last sign, which is not believed before a sign would
 * have come meanwhile, since a clock that was set makes the silence too long or too short; or as long as it was
 * observed.
 */
const silenceOf = (byTimeOfDay: number, observedMs: number): number =>
  observedMs > 1.5 * heartbeatIntervalMs ? Math.max(byTimeOfDay, observedMs) : Math.min(byTimeOfDay, observedMs);

const lockFile = (folder: string, number: number): string => join(folder, `lock.${number}`);

function numbers(folder: string): number[] {
  return readdirSync(folder)
    .flatMap((entry) => (/^lock\.\d+$/.test(entry) ? [Number(entry.slice('lock.'.length))] : []))
    .sort((a, b) => b - a);
}

function highestLock(folder: string): Lock | undefined {
  for (const number of numbers(folder)) {
    const file = lockFile(folder, number);
    try {
      const holder = readHolder(readFileSync(file, 'utf8'));
      if (holder === undefined)
        throw new Error(`The lock file ${file} can't be read. Remove it if no Landfall is running.`);
      return { number, holder, beatAt: statSync(file).mtimeMs };
    } catch (error) {
      // A newer holder removed it between the two looks; that one's file is found by looking again.
      if (hasCode(error, 'ENOENT')) return highestLock(folder);
      throw error;
    }
  }
  return undefined;
}

/** Makes the lock file of this number, whole at once; false when another process was first. */
function takeNumber(folder: string, number: number, me: Holder): boolean {
  const aside = writeAside(folder, me);
  try {
    linkSync(aside, lockFile(folder, number));
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  } finally {
    rmSync(aside);
  }
  const highest = numbers(folder)[0] === number;
  // A look at the folder can miss a file that is just being made: then a higher one counts, not ours.
  if (!highest) rmSync(lockFile(folder, number));
  return highest;
}

function writeAside(folder: string, holder: Holder): string {
  const aside = join(folder, `taking-${randomUUID()}`);
  writeFileSync(aside, writeHolder(holder), { mode: 0o644 });
  return aside;
}

function hold(folder: string, number: number, me: Holder): FolderLock {
  for (const old of numbers(folder)) if (old < number) rmSync(lockFile(folder, old), { force: true });
  const file = lockFile(folder, number);
  const beat = setInterval(() => writeHeartbeat(file), heartbeatIntervalMs).unref();
  let released = false;
  return {
    release: () => {
      if (released) return;
      released = true;
      clearInterval(beat);
      // A folder that was removed meanwhile needs no release.
      if (existsSync(file)) renameSync(writeAside(folder, { ...me, released: true }), file);
    },
  };
}

function writeHeartbeat(file: string): void {
  const now = new Date();
  // Where the folder was removed under us, there is nothing left to hold.
  unlessCode(['ENOENT'], undefined, () => utimesSync(file, now, now));
}

/** Who holds a folder, as its lock file says. */
interface Holder {
  pid: number;
  /** When that process began, see `processBirth`. */
  birth: string;
  /** Where its id means something, see `processSpace`. */
  space: string;
  /** The holder let go of the folder. */
  released: boolean;
}

/** What can be seen of a holder from here. */
interface ObservedHolder {
  space: string;
  /** The birth of the process that has the holder's id now; `undefined` when there is none. */
  birth: string | undefined;
  /** Milliseconds since the holder last gave a sign of life. */
  silentFor: number;
}

/** How often a holder gives a sign of life, in milliseconds. */
const heartbeatIntervalMs = 5_000;

/** A holder that can't be looked up, because it lives in another container, counts as gone after this silence (ms). */
export const holderTimeoutMs = 4 * heartbeatIntervalMs;

/** Whether a holder still holds: `held`, `free`, or `wait` when only its silence can show. */
export function classifyHolder(holder: Holder, seen: ObservedHolder): 'held' | 'free' | 'wait' {
  if (holder.released) return 'free';
  if (holder.space === seen.space) return holder.birth === seen.birth ? 'held' : 'free';
  return seen.silentFor > holderTimeoutMs ? 'free' : 'wait';
}

/** Reads what a lock file says; `undefined` when it says nothing of the kind. */
export function readHolder(text: string): Holder | undefined {
  const [pid, birth, space, state] = text.split('\n');
  if (pid === undefined || !/^\d+$/.test(pid) || birth === undefined || space === undefined) return undefined;
  return { pid: Number(pid), birth, space, released: state === 'released' };
}

/** A holder as a lock file says it: one line each for the process id, its birth, its space and its state. */
export function writeHolder({ pid, birth, space, released }: Holder): string {
  return `${pid}\n${birth}\n${space}\n${released ? 'released' : 'held'}\n`;
}
