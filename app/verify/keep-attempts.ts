import type { SmokeTest } from '../../src/config/smoke-test.ts';
import { judge } from '../../src/planning/verdict.ts';
import type { Evidence } from '../../src/planning/verdict-types.ts';

/** The largest responses of one test that are stored during its next attempt (characters of JSON, all together). */
const largest = 256 * 1024;

/**
 * Attempts as stored until the next one: every step reads them again. The values of the oldest are dropped first. A
 * wrong attempt stays wrong without its values; one that was only late proves nothing.
 */
export function keepAttempts(test: SmokeTest, attempts: readonly Evidence[]): Evidence[] {
  let room = largest;
  const fits = (evidence: Evidence): boolean => {
    const { length } = JSON.stringify(evidence);
    if (length > room) return false;
    room -= length;
    return true;
  };
  return attempts
    .toReversed()
    .map((whole) => [whole, withoutValues(test, whole)].find(fits) ?? tooLarge)
    .toReversed();
}

const tooLarge: Evidence = { kind: 'unreachable', why: 'its response was too large to store' };

function withoutValues(test: SmokeTest, evidence: Evidence): Evidence {
  if (evidence.kind !== 'answered') return evidence;
  const missed = judge(test, evidence).filter(({ held }) => !held);
  const isLate = missed.every(({ expectation: { kind } }) => kind === 'first-event' || kind === 'total');
  return isLate ? tooLarge : { ...evidence, values: undefined };
}
