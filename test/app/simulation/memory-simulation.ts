import { MemoryStore } from '../reconcile/memory-store.ts';
import type { MakeStore } from './simulation.ts';

/** The App's work in memory, with ids that are the same whenever a history is played. */
export const memoryStore: MakeStore = (clock, send) => {
  let ids = 0;
  return new MemoryStore({
    now: () => clock.now(),
    send,
    newId: () => {
      ids += 1;
      return `00000000-0000-4000-8000-${ids.toString(16).padStart(12, '0')}`;
    },
  });
};
