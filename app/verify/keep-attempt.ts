import type { SmokeTest } from '../../src/config/smoke-test.ts';
import { judge } from '../../src/planning/verdict.ts';
import type { Evidence } from '../../src/planning/verdict-types.ts';

/** The largest response that is stored during the next attempt (characters of JSON). */
const largest = 256 * 1024;

/**
 * An attempt as stored until the next one. A very large response is dropped. A wrong one stays wrong without its
 * values; one that was only late proves nothing.
 */
export function keepAttempt(test: SmokeTest, evidence: Evidence): Evidence {
  if (evidence.kind !== 'answered' || (JSON.stringify(evidence.values) ?? '').length <= largest) return evidence;
  const missed = judge(test, evidence).filter(({ held }) => !held);
  const isLate = missed.every(({ expectation: { kind } }) => kind === 'first-event' || kind === 'total');
  if (isLate) return { kind: 'unreachable', why: 'its response was late, and too large to store' };
  return { ...evidence, values: undefined };
}
