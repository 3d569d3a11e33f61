import type { Intent, DeployRequest } from './intent.ts';

/** A wish as it is recorded: nothing is decided yet. */
export const newIntent = (
  request: DeployRequest,
  { id, seq, now }: { id: string; seq: number; now: number },
): Intent => ({
  ...request,
  id,
  seq,
  state: 'requested',
  createdAt: now,
  updatedAt: now,
});
