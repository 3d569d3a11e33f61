import type { Runs } from '../runs/runs.ts';
import type { ThreadStore } from '../threads/store.ts';

/** How many threads are looked up at once. */
const PAGE_SIZE = 100;

/**
 * Deletes every thread whose metadata names the assistant: those on which it was the last to run. Their unfinished runs
 * are ended first.
 */
export async function deleteThreadsOf(
  assistantId: string,
  { threads, runs }: { threads: ThreadStore; runs: Runs },
): Promise<void> {
  for (;;) {
    const found = await threads.search({ metadata: { assistant_id: assistantId }, limit: PAGE_SIZE });
    for (const { thread_id } of found.threads) {
      await runs.cancelThread(thread_id);
      await threads.delete(thread_id);
    }
    if (found.threads.length < PAGE_SIZE) return;
  }
}
