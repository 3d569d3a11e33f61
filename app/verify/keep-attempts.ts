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
  return attempts
    .toReversed()
    .map((evidence) => {
      const length = JSON.stringify(evidence).length;
      if (length <= room) {
        room -= length;
        return evidence;
      }
      return evidence.kind === 'answered' ? withoutValues(test, evidence) : evidence;
    })
    .toReversed();
}

function withoutValues(test: SmokeTest, evidence: Extract<Evidence, { kind: 'answered' }>): Evidence {
  const missed = judge(test, evidence).filter(({ held }) => !held);
  const isLate = missed.every(({ expectation: { kind } }) => kind === 'first-event' || kind === 'total');
  if (isLate) return { kind: 'unreachable', why: 'its response was late, and too large to store' };
  return { ...evidence, values: undefined };
}
