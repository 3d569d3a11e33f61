import type { RunDetails } from 'fast-check';
import type { History } from './deeds.ts';

/** The smallest history that was found to break an invariant, with what is needed to play it again; empty where none was. */
export function tellHistory({
  failed,
  counterexample,
  seed,
  counterexamplePath,
  errorInstance,
}: RunDetails<[History]>): string {
  if (!failed) return '';
  const [history] = counterexample ?? [];
  return [
    errorInstance instanceof Error ? errorInstance.message : 'It took too long.',
    `seed ${seed}, path ${counterexamplePath ?? 'unknown'}`,
    JSON.stringify(history?.setting),
    ...(history?.deeds ?? []).map((deed) => JSON.stringify(deed)),
  ].join('\n');
}
