import type { Intent, Wish } from './intent.ts';

/** A wish as it is recorded: nothing is decided yet. */
export const newIntent = (wish: Wish, { id, seq, now }: { id: string; seq: number; now: number }): Intent => ({
  ...wish,
  id,
  seq,
  state: 'wished',
  createdAt: now,
  updatedAt: now,
});
