import { readdirSync, readFileSync } from 'node:fs';
import { pause, type Clock } from '../../clock.ts';
import { hasCode } from '../../database/embedded/file-errors.ts';

/** Looks at the memory of process groups, all of them in one round. */
export interface MemoryWatch {
  /**
   * Watches a group until the signal aborts.
   *
   * @param over called once, with the bytes that the group's processes have for themselves, when these are more than `mostBytes`.
   */
  watch(group: number, mostBytes: number, over: (usedBytes: number) => void, signal: AbortSignal): void;
}

/** Tells for each process group how many bytes its processes have for themselves. */
export type ReadMemory = (groups: ReadonlySet<number>) => Map<number, number>;

/** How often it is looked, in milliseconds. */
const everyMs = 1_000;

/** Makes a watch that looks as long as there is something to watch. */
export function memoryWatch(clock: Clock, read: ReadMemory = readMemory): MemoryWatch {
  const watched = new Map<number, { mostBytes: number; over: (usedBytes: number) => void }>();
  let looking: Promise<void> | undefined;

  async function look(): Promise<void> {
    while (watched.size > 0) {
      await pause(clock, everyMs);
      for (const [group, used] of read(new Set(watched.keys()))) {
        const bound = watched.get(group);
        if (!bound || used <= bound.mostBytes) continue;
        watched.delete(group);
        bound.over(used);
      }
    }
    looking = undefined;
  }

  return {
    watch(group, mostBytes, over, signal) {
      if (signal.aborted) return;
      const bound = { mostBytes, over };
      watched.set(group, bound);
      const leave = (): void => {
        // The group's number may be another one's by now.
        if (watched.get(group) === bound) watched.delete(group);
      };
      signal.addEventListener('abort', leave, { once: true });
      looking ??= look();
    },
  };
}

/** Reads `/proc`; where there is none, as on macOS, it knows of nothing. */
export function readMemory(groups: ReadonlySet<number>): Map<number, number> {
  const used = new Map<number, number>();
  for (const pid of processIds()) {
    const group = groupIn(textOf(`/proc/${pid}/stat`));
    if (group === undefined || !groups.has(group)) continue;
    used.set(group, (used.get(group) ?? 0) + ownBytesIn(textOf(`/proc/${pid}/status`)));
  }
  return used;
}

/** The process group in the text of `/proc/<pid>/stat`: the third field behind the name, which may hold anything. */
export function groupIn(stat: string): number | undefined {
  const group = stat
    .slice(stat.lastIndexOf(')') + 1)
    .trim()
    .split(' ')[2];
  return group === undefined ? undefined : Number(group);
}

/** Memory that is no copy of a file, in bytes, in the text of `/proc/<pid>/status`. */
export function ownBytesIn(status: string): number {
  let kilobytes = 0;
  for (const [, amount] of status.matchAll(/^Rss(?:Anon|Shmem):\s+(\d+) kB$/gm)) kilobytes += Number(amount);
  return kilobytes * 1_024;
}

function processIds(): string[] {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    // It has ended meanwhile.
    if (hasCode(error, 'ENOENT', 'ESRCH')) return '';
    throw error;
  }
}
