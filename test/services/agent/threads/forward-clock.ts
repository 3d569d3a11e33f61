import type { Client } from '@langchain/langgraph-sdk';
import { systemClock } from '../../../../src/kit/clock.ts';
import { refusedWith } from './clients.ts';

export const MINUTE = 60_000;

/** A clock that can be moved forward; sleeping takes real time. */
export function forwardClock() {
  let ahead = 0;
  return {
    now: () => systemClock.now() + ahead,
    sleep: (ms: number, signal?: AbortSignal) => systemClock.sleep(ms, signal),
    forward: (ms: number) => {
      ahead += ms;
    },
  };
}

/** Whether a thread is missing. */
export const isGone = async (client: Client, threadId: string) =>
  (await refusedWith(client.threads.get(threadId))).status === 404;

/** Whether a thread exists for a while longer. */
export const stays = async (client: Client, threadId: string) => {
  await systemClock.sleep(200);
  return (await client.threads.get(threadId)).thread_id === threadId;
};
