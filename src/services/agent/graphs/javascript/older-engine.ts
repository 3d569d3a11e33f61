// What engines before 0.4 keep in another form than the later ones do.
import { memberOf } from '../../members.ts';

/** The channel of the tasks that nodes send: engines before 0.4 keep them beside the channels. */
const tasksChannel = '__pregel_tasks';

interface StoredCheckpoint {
  channel_values: Record<string, unknown>;
  channel_versions: Record<string, unknown>;
}

/** A checkpoint as engines before 0.4 read it: the library presents all in the later form, with tasks in a channel. */
export function withPendingSends<T extends StoredCheckpoint>(checkpoint: T): T & { pending_sends: unknown[] } {
  const { [tasksChannel]: sends, ...channel_values } = checkpoint.channel_values;
  const { [tasksChannel]: _version, ...channel_versions } = checkpoint.channel_versions;
  return { ...checkpoint, channel_values, channel_versions, pending_sends: Array.isArray(sends) ? sends : [] };
}

/** Deletes a thread from a checkpointer in memory that can't do so itself: it keeps them in `storage` and `writes`. */
export function deleteFromMemory(saver: object, threadId: string): void {
  const storage = memberOf(saver, 'storage');
  const writes = memberOf(saver, 'writes');
  if (typeof storage === 'object' && storage !== null) Reflect.deleteProperty(storage, threadId);
  if (typeof writes !== 'object' || writes === null) return;
  const start = `${JSON.stringify([threadId]).slice(0, -1)},`;
  for (const key of Object.keys(writes)) if (key.startsWith(start)) Reflect.deleteProperty(writes, key);
}
