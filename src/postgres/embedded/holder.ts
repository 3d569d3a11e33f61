/** Who holds a folder, as its lock file says. */
export interface Holder {
  pid: number;
  /** When that process began, see `processBirth`. */
  birth: string;
  /** Where its id means something, see `processSpace`. */
  space: string;
  /** The holder let go of the folder. */
  released: boolean;
}

/** What can be seen of a holder from here. */
export interface ObservedHolder {
  space: string;
  /** The birth of the process that has the holder's id now; `undefined` when there is none. */
  birth: string | undefined;
  /** Milliseconds since the holder last gave a sign of life. */
  silentFor: number;
}

/** How often a holder gives a sign of life, in milliseconds. */
export const beatEvery = 5_000;

/** A holder that can't be looked up, because it lives in another container, counts as gone after this silence (ms). */
export const silenceMeansGone = 4 * beatEvery;

/** Whether a holder still holds: `held`, `free`, or `wait` when only its silence can show. */
export function judgeHolder(holder: Holder, seen: ObservedHolder): 'held' | 'free' | 'wait' {
  if (holder.released) return 'free';
  if (holder.space === seen.space) return holder.birth === seen.birth ? 'held' : 'free';
  return seen.silentFor > silenceMeansGone ? 'free' : 'wait';
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
