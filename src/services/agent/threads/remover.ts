import type { Pool, PoolClient } from 'pg';
import type { Clock } from '../../../kit/clock.ts';
import type { ThreadTtlStrategy } from '../../../contract/agent/thread.ts';
import type { Graphs } from '../graphs/graphs.ts';
import { needsAncestors } from '../graphs/stateful.ts';
import { updatesThread } from '../graphs/server-runtime.ts';
import type { Runs } from '../runs/runs.ts';
import { keepLatest } from './keep-latest.ts';
import type { StoredThread, ThreadStore } from './store.ts';
import { deleteLocked, removeLocked } from './transaction.ts';

export interface RemoverParts {
  pool: Pool;
  threads: ThreadStore;
  runs: Runs;
  graphs: Graphs;
  clock: Clock;
  /** Called when a thread was deleted. */
  gone: (threadId: string) => void;
}

/** How often to end runs that start while a thread is being deleted, before it is deleted anyway. */
const mostTries = 3;

/** Removes threads, or their history. */
export class ThreadRemover {
  readonly #parts: RemoverParts;

  constructor(parts: RemoverParts) {
    this.#parts = parts;
  }

  /** Ends a thread's runs and deletes it with all its data; false if there is none. */
  async delete(threadId: string): Promise<boolean> {
    const { pool, runs, gone } = this.#parts;
    for (let tries = 1; ; tries += 1) {
      await runs.cancelling.ofThread(threadId);
      const remove = (client: PoolClient) => deleteLocked(client, threadId);
      const removal = await removeLocked(pool, threadId, remove, tries === mostTries);
      if (removal === 'removed') gone(threadId);
      if (removal !== 'busy') return removal === 'removed';
    }
  }

  /** Deletes threads, or all their states but the latest unless runs are unfinished. @returns how many were pruned. */
  async prune(threadIds: readonly string[], strategy: ThreadTtlStrategy): Promise<number> {
    let pruned = 0;
    for (const threadId of new Set(threadIds)) {
      const thread = await this.#parts.threads.get(threadId);
      if (!thread) continue;
      if (strategy === 'delete' ? await this.delete(threadId) : await this.#keepLatest(thread)) pruned += 1;
    }
    return pruned;
  }

  async #keepLatest(thread: StoredThread): Promise<boolean> {
    const { pool, clock } = this.#parts;
    const how = { withAncestors: await this.withAncestors(thread), now: clock.now() };
    const remove = (client: PoolClient) => keepLatest(client, thread.thread_id, how);
    return (await removeLocked(pool, thread.thread_id, remove, false)) === 'removed';
  }

  /** Whether the latest state of a thread needs its ancestors; assumed for an unknown graph. */
  async withAncestors({ thread_id, metadata }: Pick<StoredThread, 'thread_id' | 'metadata'>): Promise<boolean> {
    const { graphs, threads } = this.#parts;
    const graphId = metadata['graph_id'];
    if (typeof graphId !== 'string') return false;
    if (!graphs.has(graphId)) return true;
    const configurable = await threads.lastConfigurable(thread_id);
    return needsAncestors(await graphs.make(graphId, { configurable, runtime: updatesThread }, 'thread'));
  }
}
