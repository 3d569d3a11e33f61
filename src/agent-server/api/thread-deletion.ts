import type { Context } from 'hono';
import type { FreeObject } from '../../contract/agent/open-word.ts';
import type { AgentAuth } from '../auth/agent-auth.ts';
import { AuthRefusal } from '../auth/auth-refusal.ts';
import { holds } from '../auth/filters.ts';
import { ask } from '../auth/call-auth-handler.ts';
import type { ThreadRemover } from '../threads/remover.ts';

/** A thread to delete, with what authorization needs. */
export interface GoingThread {
  thread_id: string;
  metadata: FreeObject;
}

/** Deletes threads with their runs on behalf of a caller. */
export type DeleteThreads = (c: Context, threads: readonly GoingThread[]) => Promise<void>;

/**
 * Deletes dependent threads as if the caller had requested each: with authorization rules, every thread is checked before
 * any is deleted, and hidden ones are skipped.
 */
export function threadDeletion(auth: AgentAuth | undefined, remover: Pick<ThreadRemover, 'delete'>): DeleteThreads {
  return async (c, threads) => {
    const going: GoingThread[] = [];
    for (const thread of threads) if (!auth || (await mayDelete(auth, c, thread))) going.push(thread);
    for (const { thread_id } of going) await remover.delete(thread_id);
  };
}

async function mayDelete(auth: AgentAuth, c: Context, { thread_id, metadata }: GoingThread): Promise<boolean> {
  const user = c.get('authUser');
  if (user === undefined) throw new AuthRefusal(401, 'Unauthorized');
  const wanted = await ask({ auth, user }, 'threads', 'delete', { thread_id });
  return wanted === undefined || holds(metadata, wanted);
}
