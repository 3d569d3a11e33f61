import { missing, Refusal } from '../refusal.ts';
import type { ThreadStore } from '../threads/store.ts';
import type { RunPlan } from './run-plan.ts';
import type { Started, RunStore } from './store.ts';

/** How a run is stored. */
export interface StoreRunOptions {
  stateless: boolean;
  /** It becomes `running` at once if its thread is free. */
  mayStart: boolean;
  /** A missing thread is created. */
  makeThread: boolean;
}

/**
 * Stores a run before it does anything.
 *
 * @throws Refusal if its thread is missing, or busy and the run does not wait.
 */
export async function storeRun(
  plan: RunPlan,
  { stateless, mayStart, makeThread }: StoreRunOptions,
  { store, threads }: { store: RunStore; threads: ThreadStore },
): Promise<Extract<Started, { kind: 'started' }>> {
  let started = await store.begin(plan, stateless, mayStart);
  if (started.kind === 'no-thread' && makeThread) {
    await threads.create(plan.threadId, plan.threadMetadata);
    started = await store.begin(plan, stateless, mayStart);
  }
  if (started.kind === 'started') return started;
  if (started.kind === 'no-thread') throw missing(`Thread ${plan.threadId} does not exist.`);
  throw new Refusal(
    409,
    `Thread ${plan.threadId} is busy with another run. Wait for it, or choose another multitask_strategy than "reject".`,
  );
}

/** The refusal of one run of a batch. */
export function refusalInBatch(error: unknown, at: number): unknown {
  if (!(error instanceof Refusal)) return error;
  const { detail, status, headers } = error;
  if (typeof detail === 'string') return new Refusal(status, `Run ${at} of the batch: ${detail}`, headers);
  return new Refusal(
    status,
    detail.map(({ loc: [where = 'body', ...path], ...problem }) => ({ loc: [where, at, ...path], ...problem })),
    headers,
  );
}
