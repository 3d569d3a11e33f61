import { isDeepStrictEqual } from 'node:util';
import { decideGate, type GateDecision } from '../../src/deploy/machine/gate.ts';
import { decideChecks, nextLookAtChecks } from './await-checks.ts';
import type { Intent, UnsentIntent } from './intent.ts';
import { saveIntents, type ReconcileContext, type StepResult } from './reconcile-context.ts';

/** Decides whether a request for the head may be sent now, by its checks and the gate of its environment. */
export async function decideGates(work: ReconcileContext, intent: UnsentIntent): Promise<GateDecision> {
  const checks = await decideChecks(work, intent);
  if (checks.kind !== 'pass' || !isGated(intent)) return checks;
  return decideGate(intent.terms, work.context.clock.now());
}

/** A service that builds pushes by itself waits for nobody. */
const isGated = ({ cause: { kind, ignoresFreeze }, terms }: Intent): boolean =>
  !ignoresFreeze && !(terms.builder === 'service' && (kind === 'push' || kind === 'recovery'));

type AwaitDecision = Extract<GateDecision, { kind: 'await' }>;

/** How often it is looked whether a freeze goes on (ms), whatever the clock does meanwhile. */
const longestMs = 60 * 60_000;

/** How often the environment before is looked at while it is changing (ms). */
const earlierMs = 20_000;

/** When to look again (ms since the epoch), without an event. */
function nextLook(intent: UnsentIntent, decision: AwaitDecision, now: number): number {
  switch (decision.code) {
    case 'checks':
      return nextLookAtChecks(intent, now);
    case 'frozen':
      return Math.min(now + longestMs, decision.until ?? Infinity);
    case 'earlier':
      return now + earlierMs;
  }
}

/** How long after the time of a look it may be (ms), so that not all look at once. */
const jitterMs = 10_000;

/** Waits, and shows for what: until an event, or until it is time to look. */
export async function awaitGate(
  work: ReconcileContext,
  intent: UnsentIntent,
  decision: AwaitDecision,
): Promise<StepResult> {
  const { clock, random } = work.context;
  const isShown = intent.state === 'waiting' && isDeepStrictEqual(intent.decision, decision);
  if (!isShown) await saveIntents(work, [{ ...intent, state: 'waiting', decision }]);
  const now = clock.now();
  const until = Math.max(now + 1_000, nextLook(intent, decision, now)) + Math.round(random() * jitterMs);
  return { kind: 'requeue', until };
}
