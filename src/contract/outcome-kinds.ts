/** How a run can end; these are the values of the Action's `outcome` output, and of receipts. */
export const outcomeKinds = [
  'deployed',
  'unchanged',
  'planned',
  'started',
  'rolled-back',
  'discarded',
  'deleted',
  'superseded',
  'failed',
  'broken',
  'unproven',
  'interrupted',
  'timed-out',
  'refused',
  'frozen',
  'neutral',
] as const;
export type OutcomeKind = (typeof outcomeKinds)[number];

const passing = new Set<OutcomeKind>(['deployed', 'unchanged', 'planned', 'started', 'deleted', 'neutral']);

/** Whether a run passes. A rollback does only if it was requested: after a failed deploy it is a recovery, no success. */
export function passesBy(kind: OutcomeKind, mode: string, onSuperseded: 'pass' | 'fail'): boolean {
  if (kind === 'rolled-back') return mode === 'rollback';
  if (kind === 'superseded') return onSuperseded === 'pass';
  return passing.has(kind);
}
