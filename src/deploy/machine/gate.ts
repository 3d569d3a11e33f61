import type { EnvironmentGate } from '../file/environment-gate.ts';
import { frozenNow } from '../rules/environment-gate.ts';
import type { AwaitDecision, Decision } from '../rules/trigger-types.ts';

/** What keeps a commit from being sent now: it waits, or is not deployed. */
export type GateDecision = { kind: 'pass' } | AwaitDecision | Extract<Decision, { kind: 'skip' }>;

/** What is known of the gate of an environment. */
export interface GatedTerms {
  gate?: EnvironmentGate | undefined;
  /** The file speaks of freeze windows or holds, and could not be read. */
  isGateUnknown?: true | undefined;
}

/** Whether the gate of an environment is open now. */
export function decideGate(terms: GatedTerms, now: number): GateDecision {
  if (terms.isGateUnknown) return { kind: 'skip', code: 'gate-unread' };
  const frozen = frozenNow(terms.gate, now);
  return frozen ? { kind: 'await', code: 'frozen', ...frozen } : { kind: 'pass' };
}
