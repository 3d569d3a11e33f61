import type { Pool, PoolClient } from 'pg';
import type { Clock } from '../../../kit/clock.ts';
import type { ThreadTtlStrategy } from '../../../contract/agent/thread.ts';
import type { Graphs } from '../graphs/graphs.ts';
import { needsAncestors } from '../graphs/stateful.ts';
import { updatesThread } from '../graphs/graph.ts';
import type { Runs } from '../runs/runs.ts';
import { keepLatest } from './keep-latest.ts';
import { changeLocked, deleteLocked, type StoredThread, type ThreadStore } from './store.ts';

export interface DeleterDependencies {
  pool: Pool;
  threads: ThreadStore;
  runs: Runs;
  graphs: Graphs;
  clock: Clock;
  gone: (threadId: string) => void;
}

/** How often to end runs that start while a thread is being deleted, before it is deleted anyway. */
const maxTries = 3;

/** Deletes threads, or their history. */
export class ThreadDeleter {
  readonly #dependencies: DeleterDependencies;

  constructor(dependencies: DeleterDependencies) {
    this.#dependencies = dependencies;
  }

  /** Ends a thread's runs and deletes it with all its data; false if there is none. */
  async delete(threadId: string): Promise<boolean> {
    const { pool, runs, gone } = this.#dependencies;
    for (let tries = 1; ; tries += 1) {
      await runs.cancelling.ofThread(threadId);
      const change = (client: PoolClient) => deleteLocked(client, threadId);
      const outcome = await changeLocked(pool, threadId, change, tries === maxTries);
      if (outcome === 'done') gone(threadId);
      if (outcome !== 'busy') return outcome === 'done';
    }
  }

  /** Deletes threads, or all their states but the latest unless runs are unfinished. @returns how many were pruned. */
  async prune(threadIds: readonly string[], strategy: ThreadTtlStrategy): Promise<number> {
    let pruned = 0;
    for (const threadId of new Set(threadIds)) {
      const thread = await this.#dependencies.threads.get(threadId);
      if (!thread) continue;
      if (strategy === 'delete' ? await this.delete(threadId) : await this.#keepLatest(thread)) pruned += 1;
    }
    return pruned;
  }

  async #keepLatest(thread: StoredThread): Promise<boolean> {
    const { pool, clock } = this.#dependencies;
    const how = { withAncestors: await this.withAncestors(thread), now: clock.now() };
    const change = (client: PoolClient) => keepLatest(client, thread.thread_id, how);
    return (await changeLocked(pool, thread.thread_id, change, false)) === 'done';
  }

  /** Whether the latest state of a thread needs its ancestors; assumed for an unknown graph. */
  async withAncestors({ thread_id, metadata }: Pick<StoredThread, 'thread_id' | 'metadata'>): Promise<boolean> {
    const { graphs, threads } = this.#dependencies;
    const graphId = metadata['graph_id'];
    if (typeof graphId !== 'string') return false;
    if (!graphs.has(graphId)) return true;
    const configurable = await threads.lastConfigurable(thread_id);
    return needsAncestors(await graphs.make(graphId, { configurable, runtime: updatesThread }, 'thread'));
  }
}
