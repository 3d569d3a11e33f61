/** The most (bytes) that is written at once: byte arrays are sent as text. */
export const maxBytesAtOnce = 256 * 1024;

/** A checkpoint as it is stored; `checkpoint` and `metadata` are JSON. */
export interface CheckpointRow {
  namespace: string;
  id: string;
  parentId: string | undefined;
  checkpoint: string;
  metadata: string;
}

/** A stored value: that of a channel at a version, or one that a task wrote. */
export interface StoredValue {
  channel: string;
  type: string;
  bytes: Uint8Array | undefined;
}

/** What a task wrote after a checkpoint. */
export interface TaskRow extends StoredValue {
  namespace: string;
  checkpointId: string;
  taskId: string;
  index: number;
}

/** Rows of one thread that one statement stores: checkpoints with their values, and what tasks wrote after them. */
export class CheckpointBatch {
  readonly #threadId: string;
  /** JSON by the key of the row: a statement can't write a row twice. */
  readonly #checkpoints = new Map<string, string>();
  readonly #values: string[] = [];
  readonly #writes: string[] = [];
  bytes = 0;

  constructor(threadId: string) {
    this.#threadId = threadId;
  }

  addCheckpoint(
    { namespace, id, parentId, checkpoint, metadata }: CheckpointRow,
    values: readonly (StoredValue & { version: string })[],
  ): void {
    const names = JSON.stringify({ ns: namespace, id, parent: parentId }).slice(0, -1);
    this.#checkpoints.set(
      JSON.stringify([namespace, id]),
      `${names},"checkpoint":${checkpoint},"metadata":${metadata}}`,
    );
    for (const value of values)
      this.#values.push(JSON.stringify({ ns: namespace, version: value.version, ...columnsOf(value) }));
    this.bytes += checkpoint.length + metadata.length + sizeOf(values);
  }

  addWrites(writes: readonly TaskRow[]): void {
    for (const write of writes) {
      const { namespace: ns, checkpointId: id, taskId: task, index: idx } = write;
      this.#writes.push(JSON.stringify({ ns, id, task, idx, ...columnsOf(write) }));
    }
    this.bytes += sizeOf(writes);
  }

  /** The parameters of `batchTables`. */
  parameters(): string[] {
    const lists = [[...this.#checkpoints.values()], this.#values, this.#writes];
    return [this.#threadId, ...lists.map((rows) => `[${rows.join(',')}]`)];
  }
}

/**
 * The relations that store a batch if `ours` has a row. Its parameters begin at `first`. Existing values and writes stay:
 * a batch has no writes that replace others.
 */
export const batchTables = (first: number) => `
  batch_values as (
    insert into checkpoint_blobs (thread_id, checkpoint_ns, channel, version, type, blob)
    select $${first}::text, b.ns, b.channel, b.version, b.type, decode(b.data, 'base64')
    from ours, json_to_recordset($${first + 2}::json) as b (ns text, channel text, version text, type text, data text)
    on conflict (thread_id, checkpoint_ns, channel, version) do nothing
  ), batch_checkpoints as (
    insert into checkpoints (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, checkpoint, metadata)
    select $${first}::text, c.ns, c.id, c.parent, c.checkpoint, c.metadata
    from ours, json_to_recordset($${first + 1}::json) as c (ns text, id text, parent text, checkpoint jsonb, metadata jsonb)
    on conflict (thread_id, checkpoint_ns, checkpoint_id)
    do update set checkpoint = excluded.checkpoint, metadata = excluded.metadata
  ), batch_writes as (
    insert into checkpoint_writes (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, blob)
    select $${first}::text, w.ns, w.id, w.task, w.idx, w.channel, w.type, decode(w.data, 'base64')
    from ours, json_to_recordset($${first + 3}::json)
      as w (ns text, id text, task text, idx int, channel text, type text, data text)
    on conflict (thread_id, checkpoint_ns, checkpoint_id, task_id, idx) do nothing
  )`;

const columnsOf = ({ channel, type, bytes }: StoredValue) => ({
  channel,
  type,
  data: bytes && Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64'),
});

const sizeOf = (values: readonly StoredValue[]): number =>
  values.reduce((sum, { bytes }) => sum + (bytes?.byteLength ?? 0), 0);
