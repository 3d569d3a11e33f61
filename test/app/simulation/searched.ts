import * as fc from 'fast-check';
import type { History } from './deeds.ts';
import type { Code, House } from './house.ts';
import { violations } from './invariants.ts';
import { play } from './play.ts';

/** What a search came to. */
export interface Searched {
  /** The smallest history that was found to break an invariant, with what plays it again; empty where none was. */
  told: string;
  /** How many histories were played, those among them that made a failing one smaller. */
  played: number;
  /** What the App logged in each. */
  traces: (readonly string[])[];
}

/** Plays histories until one breaks an invariant, in words that `only` matches, and makes that one smaller. */
export async function searched(
  histories: fc.Arbitrary<History>,
  code: Code,
  parameters: fc.Parameters<[History]>,
  only = /./,
): Promise<Searched> {
  const traces: House['log'][] = [];
  const property = fc.asyncProperty(histories, async (history) => {
    const house = await play(history, code);
    traces.push(house.log);
    const found = (await violations(house)).filter((each) => only.test(each));
    if (found.length > 0) throw new Error(found.join('\n'));
  });
  return { told: tellHistory(await fc.check(property, parameters)), played: traces.length, traces };
}

function tellHistory({
  failed,
  counterexample,
  seed,
  counterexamplePath,
  errorInstance,
}: fc.RunDetails<[History]>): string {
  if (!failed) return '';
  const [history] = counterexample ?? [];
  return [
    errorInstance instanceof Error ? errorInstance.message : 'It took too long.',
    `seed ${seed}, path ${counterexamplePath ?? 'unknown'}`,
    JSON.stringify(history?.setting),
    ...(history?.deeds ?? []).map((deed) => JSON.stringify(deed)),
  ].join('\n');
}
