import type { EnvironmentGate } from '../file/environment-gate.ts';
import { frozenNow } from '../rules/environment-gate.ts';
import { decideProtection, type ProtectedRequest, type Protection } from '../rules/environment-protection.ts';
import type { AwaitDecision, Decision } from '../rules/trigger-types.ts';

/** What keeps a commit from being sent now: it waits, or is not deployed. */
export type GateDecision = { kind: 'pass' } | AwaitDecision | Extract<Decision, { kind: 'skip' }>;

/** What is known of the gates of an environment: of the deploy file's, and of GitHub's. */
export interface Gates {
  gate?: EnvironmentGate | undefined;
  /** The file speaks of freeze windows or holds, and could not be read. */
  isGateUnknown?: true | undefined;
  /** A person said that a freeze does not count. */
  ignoresFreeze?: true | undefined;
  /** Absent: GitHub requires nothing. */
  protection?: Protection | undefined;
}

/** Whether the gates of an environment are open for a request now. */
export function decideGate(
  { gate, isGateUnknown, ignoresFreeze, protection }: Gates,
  request: ProtectedRequest,
  now: number,
): GateDecision {
  if (isGateUnknown && !ignoresFreeze) return { kind: 'skip', code: 'gate-unread' };
  const frozen = ignoresFreeze ? undefined : frozenNow(gate, now);
  if (frozen) return { kind: 'await', code: 'frozen', ...frozen };
  return protection ? decideProtection(protection, request, now) : { kind: 'pass' };
}
