import type { SmokeTest } from '../file/smoke-test.ts';
import type { Evidence, UnprovenReason } from './verdict-types.ts';

/** A provider that is busy, and an agent that gives no answer by its own fault, get so many attempts in a row. */
const maxFaults = 10;
/** After a provider was busy so often, one request at a time is sent. */
const maxHalvings = 5;
/** The longest time that a provider's own waiting time is taken for (ms). */
const maxWaitMs = 60_000;

/** Whether the last attempts at a test brought so often no answer that another one is not worth its time. */
export function isPatienceOver({ attempts: most, series }: SmokeTest, attempts: readonly Evidence[]): boolean {
  const lastAnswer = attempts.findLastIndex(({ kind }) => kind !== 'unreachable');
  // Where one right answer is enough, a wrong one takes an attempt as well.
  const open = series ? attempts.slice(lastAnswer + 1) : attempts;
  const faults = open.filter((each) => isFault(each, series !== undefined)).length;
  return open.length - faults >= most || faults >= Math.max(most, maxFaults);
}

const isFault = (evidence: Evidence, isSeries: boolean): boolean =>
  evidence.kind === 'unreachable' && (evidence.fault === 'provider' || (isSeries && evidence.fault !== undefined));

const isProviders = (evidence: Evidence): boolean => othersFault(evidence) === 'provider';

/** Whether a request that was given so many ms had all of its test's own time: an agent is not blamed for less. */
export const hadItsTime = ({ timeoutMs, ownTimeoutMs = timeoutMs }: SmokeTest, givenMs: number): boolean =>
  givenMs >= ownTimeoutMs;

/** Why the agent is not to blame for a missing answer; undefined where it may be, or where there is one. */
export function othersFault(evidence: Evidence): 'denied' | 'ungraded' | 'provider' | undefined {
  if (evidence.kind !== 'unreachable') return undefined;
  if (evidence.denied) return 'denied';
  if (evidence.ungraded) return 'ungraded';
  return evidence.fault === 'provider' ? 'provider' : undefined;
}

/** Why nothing is proven where this attempt brought no answer. */
export const reasonOf = (evidence: Extract<Evidence, { kind: 'unreachable' }>): UnprovenReason =>
  othersFault(evidence) ?? evidence.fault ?? 'unreachable';

/** How many attempts brought a failure of the model's provider. */
export const providerFailures = (attempts: readonly Evidence[]): number => attempts.filter(isProviders).length;

/** How many requests are sent at once: half as many after each failure of the provider, which our own may have caused. */
export const atOnceAfter = (attempts: readonly Evidence[], atOnce: number): number =>
  Math.max(1, Math.floor(atOnce / 2 ** Math.min(maxHalvings, providerFailures(attempts))));

/** How long the provider of the last attempt asks to wait (ms). */
export function providerWaitMs(attempts: readonly Evidence[]): number {
  const last = attempts.at(-1);
  return last?.kind === 'unreachable' ? Math.min(maxWaitMs, last.retryAfterMs ?? 0) : 0;
}
