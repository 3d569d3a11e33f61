import type { ClientBase } from 'pg';
import type { FreeObject } from '../../../contract/agent/open-word.ts';
import type { Checkpoint } from '../../../contract/agent/thread.ts';
import { missing, type Refusal } from '../refusal.ts';

/** Selects a state of a thread; the newest of the whole graph by default. */
export type CheckpointSelector = Pick<Checkpoint, 'checkpoint_id' | 'checkpoint_ns' | 'checkpoint_map'>;

/** The engine's `configurable` for a state of a thread. The path names the thread, never the body. */
export function checkpointConfigurable(
  threadId: string,
  { checkpoint_id, checkpoint_ns, checkpoint_map }: CheckpointSelector,
): FreeObject {
  return {
    thread_id: threadId,
    checkpoint_ns: checkpoint_ns ?? '',
    ...(checkpoint_id ? { checkpoint_id } : {}),
    ...(checkpoint_map ? { checkpoint_map } : {}),
  };
}

/** Whether that state exists. */
export async function hasCheckpoint(
  client: Pick<ClientBase, 'query'>,
  threadId: string,
  where: CheckpointSelector,
): Promise<boolean> {
  const { rowCount } = await client.query(
    'select from checkpoints where thread_id = $1 and checkpoint_ns = $2 and checkpoint_id = $3',
    [threadId, where.checkpoint_ns ?? '', where.checkpoint_id],
  );
  return rowCount !== 0;
}

export const noCheckpoint = (threadId: string, checkpointId: string): Refusal =>
  missing(`Checkpoint not found. There is no checkpoint ${checkpointId} on thread ${threadId}: list its history.`);
