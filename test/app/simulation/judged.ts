import type { History } from './deeds.ts';
import type { Code } from './house.ts';
import { play } from './play.ts';
import { violations } from './invariants.ts';

/** Plays a history and tells what did not hold once all was quiet: nothing where all is well. */
export async function judged(history: History, code: Code): Promise<string[]> {
  return violations(await play(history, code));
}
