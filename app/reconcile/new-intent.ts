import type { Intent, DeployRequest } from './intent.ts';

/** Makes an intent of a deploy request: nothing is decided yet. */
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
