import * as fc from 'fast-check';
import type { History } from './commands.ts';
import type { Code, Simulation } from './simulation.ts';
import { violations } from './invariants.ts';
import { play } from './play.ts';

/** The result of a search. */
export interface Searched {
  /** The smallest history that breaks an invariant, with the arguments to replay it; empty if there is none. */
  reported: string;
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
  const traces: Simulation['log'][] = [];
  const property = fc.asyncProperty(histories, async (history) => {
    const simulation = await play(history, code);
    traces.push(simulation.log);
    const found = (await violations(simulation)).filter((each) => only.test(each));
    if (found.length > 0) throw new Error(found.join('\n'));
  });
  return { reported: describeHistory(await fc.check(property, parameters)), played: traces.length, traces };
}

function describeHistory({
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
    ...(history?.commands ?? []).map((command) => JSON.stringify(command)),
  ].join('\n');
}
