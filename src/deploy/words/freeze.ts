import type { FrozenFacts } from '../rules/environment-gate.ts';

/** A time (ms since the epoch) to the minute, as people read it anywhere. */
export const shownTime = (at: number): string => `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

/** `until 2026-12-27 00:00 UTC: Holidays`: the end and the reason, which is a text of others. */
export function freezeEnd({ until, reason }: Omit<FrozenFacts, 'environment'>): string {
  const end = until === undefined ? 'without an end in sight' : `until ${shownTime(until)}`;
  return reason === undefined ? end : `${end}: ${reason}`;
}

/** That an environment is frozen: one clause without a full stop. */
export const frozenWords = ({ environment, ...facts }: FrozenFacts): string =>
  `${environment} is frozen ${freezeEnd(facts)}`;
