import type { SmokeTest } from '../../src/config/smoke-test.ts';
import { judge } from '../../src/planning/verdict.ts';
import type { Evidence } from '../../src/planning/verdict-types.ts';

/** The largest answer that is kept while the next attempt is made (characters of JSON). */
const largest = 256 * 1024;

/**
 * An attempt as it is kept until the next one has been made. A very large answer is left out. It was wrong, and still
 * is without its values; or it only came late, and then it says nothing.
 */
export function keepAttempt(test: SmokeTest, evidence: Evidence): Evidence {
  if (evidence.kind !== 'answered' || (JSON.stringify(evidence.values) ?? '').length <= largest) return evidence;
  const missed = judge(test, evidence).filter(({ held }) => !held);
  const isLate = missed.every(({ expectation: { kind } }) => kind === 'first-event' || kind === 'total');
  if (isLate) return { kind: 'unreachable', why: 'its answer came late, and was too large to be kept' };
  return { ...evidence, values: undefined };
}
