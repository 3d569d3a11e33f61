import type { RunnableConfig } from '@langchain/core/runnables';
import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres';
import {
  WRITES_IDX_MAP,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointTuple,
  type PendingWrite,
  type SerializerProtocol,
} from '@langchain/langgraph-checkpoint';
import type { Pool } from 'pg';
import { parseExactly } from '../../../kit/exact-number.ts';
import { applicationName } from '../storage/open.ts';
import { overriding } from '../../../kit/overriding.ts';
import { storableJson } from '../../../kit/json-text.ts';
import { inTransaction } from '../storage/transaction.ts';
import { batchTables, CheckpointBatch, maxBytesAtOnce } from './checkpoint-batch.ts';
import { nextChannelVersion, CheckpointWriteTracker } from './checkpoint-writes.ts';
import { withPendingSends } from './javascript/engine.ts';
import { RunOwnershipLost, queryWithRetries } from '../storage/retry-policy.ts';

type PutArguments = Parameters<PostgresSaver['put']>;

/** The metadata of a checkpoint that identifies its run, needed to resume or undo it. */
const runKeys = ['run_id', 'graph_id', 'assistant_id'] as const;

/**
 * Matches only if this process (identified by its connections' application name) holds the run, if there is one. A
 * process presumed dead must not change a thread that others continue, nor may an ended run, whose node may have
 * ignored its signal.
 */
const ours = (run: string, name: string) => `
  ours as materialized (
    select where ${run}::uuid is null or exists (
      select from runs
      where run_id = ${run} and status = 'running' and '${applicationName('')}' || process_id::text = ${name}::text
    )
  )`;

const putBatch = `with ${ours('$1', '$2')}, ${batchTables(3)} select from ours`;

/** Records once what a run overwrites in a state that is not its own, to undo it. `written` has each `idx`. */
const before = (run: string) => `
  before as (
    insert into checkpoint_writes_before (run_id, thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, blob)
    select ${run}::uuid, $1, $2, $3, $4, written.idx, found.channel, found.type, found.blob
    from written join checkpoints c on c.thread_id = $1 and c.checkpoint_ns = $2 and c.checkpoint_id = $3
    left join checkpoint_writes found on found.thread_id = $1 and found.checkpoint_ns = $2 and found.checkpoint_id = $3
      and found.task_id = $4 and found.idx = written.idx
    where ${run}::uuid is not null and c.metadata ->> 'run_id' is distinct from ${run}::text
    on conflict do nothing
  )`;

const putWrites = (onConflict: string) => `
  with ${ours('$9', '$10')}, written as (
    select w.idx, w.channel, w.type, w.blob
    from ours, unnest($5::int[], $6::text[], $7::text[], $8::bytea[]) as w (idx, channel, type, blob)
  ), ${before('$9')}
  insert into checkpoint_writes (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, blob)
  select $1, $2, $3, $4, idx, channel, type, blob from written
  on conflict (thread_id, checkpoint_ns, checkpoint_id, task_id, idx) ${onConflict}`;

const noteBefore = `
  with ${ours('$6', '$7')}, written as (select w.idx from ours, unnest($5::int[]) as w (idx)), ${before('$6')}
  select from ours`;

const insertWrites = putWrites('do nothing');
const upsertWrites = putWrites('do update set channel = excluded.channel, type = excluded.type, blob = excluded.blob');

/** The engine whose checkpoints are stored. */
export interface CheckpointEngine {
  serializer: SerializerProtocol;
  /** Whether it keeps the tasks that nodes send beside the channels. */
  keepsPendingSends: boolean;
}

/** Stores a batch of a run; `runId` is null for a manual update. @throws RunOwnershipLost if this process has not the run. */
export async function storeBatch(
  pool: Pool,
  runId: string | null,
  batch: CheckpointBatch,
  ask: typeof queryWithRetries = queryWithRetries,
): Promise<void> {
  const values = [runId, pool.options.application_name, ...batch.parameters()];
  const { rowCount } = await ask(() => pool.query({ name: 'put-batch', text: putBatch, values }));
  if (rowCount === 0) throw notOurs();
}

/** The ends of the library's statements that read one state. */
const ofThread = 'WHERE thread_id = $1 AND checkpoint_ns = $2';
const oneState = [`${ofThread} ORDER BY checkpoint_id DESC LIMIT 1`, `${ofThread} AND checkpoint_id = $3`];

/** The same pool, which prepares the statements that read one state: to plan them takes longer than to execute them. */
const preparing = (pool: Pool): Pool =>
  overriding<object, Pool>(pool, {
    query: (...args: unknown[]): unknown => {
      const [text, values] = args;
      const which = typeof text === 'string' ? oneState.findIndex((end) => text.endsWith(end)) : -1;
      const sent = which >= 0 ? [{ name: `read-state-${which}`, text, values }] : args;
      return Reflect.apply(pool.query.bind(pool), undefined, sent);
    },
  });

/**
 * The library's Postgres checkpointer with its own tables, but each write is one prepared statement instead of a
 * transaction: an agent has only two connections. Every checkpoint names its run.
 *
 * Inside a run all operations retry while the database is down. Each is idempotent, also with concurrent writers:
 * existing rows stay, overwritten values are recorded once with the write or before it, and ownership of the run is
 * checked again.
 */
export class Checkpoints extends PostgresSaver {
  readonly #engine: CheckpointEngine;
  readonly #pool: Pool;
  /** The application name of this process's connections. */
  readonly #name: string | undefined;

  readonly #underWay: CheckpointWriteTracker;
  readonly #ask: typeof queryWithRetries;

  /** @param underWay absent if the pool is a single connection, which can't be reconnected. */
  constructor(pool: Pool, engine: CheckpointEngine, underWay?: CheckpointWriteTracker) {
    super(preparing(pool), engine.serializer);
    this.#engine = engine;
    this.#underWay = underWay ?? new CheckpointWriteTracker((runId, batch) => storeBatch(pool, runId, batch));
    this.#ask = underWay ? queryWithRetries : (ask) => ask();
    this.#pool = pool;
    this.#name = pool.options.application_name;
  }

  override getNextVersion(current: number | undefined): number {
    return nextChannelVersion(current);
  }

  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    await this.#flushThreadOf(config);
    return this.#ask(() => super.getTuple(config));
  }

  async #flushThreadOf({ configurable }: RunnableConfig): Promise<void> {
    const threadId: unknown = configurable?.['thread_id'];
    if (typeof threadId === 'string') await this.#underWay.flushThread(threadId);
  }

  /** In the form that the agent's engine reads. */
  protected override async _loadCheckpoint(
    ...stored: Parameters<PostgresSaver['_loadCheckpoint']>
  ): Promise<Checkpoint> {
    const checkpoint = await super._loadCheckpoint(...stored);
    return this.#engine.keepsPendingSends ? withPendingSends(checkpoint) : checkpoint;
  }

  override async *list(config: RunnableConfig, options?: CheckpointListOptions): AsyncGenerator<CheckpointTuple> {
    await this.#flushThreadOf(config);
    // The library reads all of them at once anyway.
    yield* await this.#ask(() => Array.fromAsync(super.list(config, options)));
  }

  /** As it is stored. The library would create LangChain's objects from it, although clients may write any metadata. */
  protected override async _loadMetadata(metadata: Record<string, unknown>): Promise<Record<string, unknown>> {
    return metadata;
  }

  override async put(...write: PutArguments): Promise<RunnableConfig> {
    return this.#underWay.during(runIdOf(write[0]), (turn) => this.#put(turn, ...write));
  }

  override async putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string): Promise<void> {
    return this.#underWay.during(runIdOf(config), (turn) => this.#putWrites(turn, config, writes, taskId));
  }

  /** The same as theirs, with numbers as they were written. */
  override async _dumpMetadata(metadata: CheckpointMetadata): Promise<unknown> {
    const [, json] = await this.serde.dumpsTyped(metadata);
    return parseExactly(typeof json === 'string' ? json : new TextDecoder().decode(json));
  }

  async #put(
    turn: Promise<void>,
    ...[config, checkpoint, metadata, newVersions]: PutArguments
  ): Promise<RunnableConfig> {
    const { thread_id, checkpoint_ns = '', checkpoint_id } = config.configurable ?? {};
    const runId = runIdOf(config);
    const ofRun = runId === null ? undefined : this.#underWay.metadataOf(runId);
    const [blobs, dumpedMetadata] = await Promise.all([
      this['_dumpBlobs'](thread_id, checkpoint_ns, checkpoint.channel_values, newVersions),
      this['_dumpMetadata']({ ...ofRun, ...runOf(config), ...metadata }),
    ]);
    const storedMetadata = storableJson(dumpedMetadata);
    // Serialized before any retry: the agent may change the objects while the write waits.
    const stored = this['_dumpCheckpoint'](checkpoint);
    const reached = { configurable: { thread_id, checkpoint_ns, checkpoint_id: checkpoint.id } };
    const bytes = bytesOf(blobs.map((blob) => blob[5]));
    const row = {
      namespace: checkpoint_ns,
      id: checkpoint.id,
      parentId: checkpoint_id,
      checkpoint: storableJson(stored),
      metadata: storedMetadata,
    };
    await turn;
    const { behind } = this.#underWay;
    behind.notePut(runId, placeOf(thread_id, checkpoint_ns, checkpoint.id));
    if (bytes > maxBytesAtOnce) {
      const { UPSERT_CHECKPOINT_BLOBS_SQL, UPSERT_CHECKPOINTS_SQL } = this['SQL_STATEMENTS'];
      const values = [thread_id, checkpoint_ns, checkpoint.id, checkpoint_id, stored, storedMetadata];
      const putAlone = async (): Promise<void> => {
        const held = await this.#pool.query(`with ${ours('$1', '$2')} select from ours`, [runId, this.#name]);
        if (held.rowCount === 0) throw notOurs();
        await inTransaction(this.#pool, async (client) => {
          for (const blob of blobs) await client.query(UPSERT_CHECKPOINT_BLOBS_SQL, blob);
          await client.query(UPSERT_CHECKPOINTS_SQL, values);
        });
      };
      await behind.writeAlone(runId, () => this.#ask(putAlone));
      return reached;
    }
    const all = blobs.map(([, , channel, version, type, value]) => ({ channel, version, type, bytes: value }));
    await this.#storeRows(config, bytes, (batch) => batch.addCheckpoint(row, all));
    return reached;
  }

  /** Stores rows with others of the run, or at once where it has none before it. */
  async #storeRows(config: RunnableConfig, bytes: number, addTo: (batch: CheckpointBatch) => void): Promise<void> {
    const runId = runIdOf(config);
    const threadId = config.configurable?.['thread_id'];
    if (await this.#underWay.behind.add(runId, { threadId, bytes }, addTo)) return;
    const batch = new CheckpointBatch(threadId);
    addTo(batch);
    await storeBatch(this.#pool, runId, batch, this.#ask);
  }

  async #putWrites(turn: Promise<void>, config: RunnableConfig, writes: PendingWrite[], taskId: string): Promise<void> {
    const { thread_id, checkpoint_ns = '', checkpoint_id } = config.configurable ?? {};
    const dumped = await this['_dumpWrites'](thread_id, checkpoint_ns, checkpoint_id, taskId, writes);
    await turn;
    const everyOneHasItsPlace = writes.every(([channel]) => channel in WRITES_IDX_MAP);
    const bytes = bytesOf(dumped.map((write) => write[7]));
    const { behind } = this.#underWay;
    const runId = runIdOf(config);
    // Writes that replace others, or follow the state of another run, note what was there before.
    const areNew = !everyOneHasItsPlace && behind.hasPut(runId, placeOf(thread_id, checkpoint_ns, checkpoint_id));
    if (areNew && bytes <= maxBytesAtOnce) {
      const rows = dumped.map(([, namespace, checkpointId, , index, channel, type, value]) => {
        return { namespace, checkpointId, taskId, index, channel, type, bytes: value };
      });
      return this.#storeRows(config, bytes, (batch) => batch.addWrites(rows));
    }
    const places = dumped.map((write) => write[4]);
    const place = [thread_id, checkpoint_ns, checkpoint_id, taskId];
    const writeInTransaction = async (): Promise<void> => {
      const { UPSERT_CHECKPOINT_WRITES_SQL, INSERT_CHECKPOINT_WRITES_SQL } = this['SQL_STATEMENTS'];
      const text = everyOneHasItsPlace ? UPSERT_CHECKPOINT_WRITES_SQL : INSERT_CHECKPOINT_WRITES_SQL;
      if ((await this.#pool.query(noteBefore, [...place, places, runId, this.#name])).rowCount === 0) throw notOurs();
      await inTransaction(this.#pool, async (client) => {
        for (const values of dumped) await client.query(text, values);
      });
    };
    const statement = {
      name: everyOneHasItsPlace ? 'upsert-checkpoint-writes' : 'insert-checkpoint-writes',
      text: everyOneHasItsPlace ? upsertWrites : insertWrites,
      values: [
        ...place,
        places,
        dumped.map((write) => write[5]),
        dumped.map((write) => write[6]),
        dumped.map((write) => Buffer.from(write[7])),
        runId,
        this.#name,
      ],
    };
    const write = bytes > maxBytesAtOnce ? writeInTransaction : async () => void (await this.#pool.query(statement));
    await behind.writeAlone(runId, () => this.#ask(write));
  }
}

const placeOf = (...keys: string[]): string => JSON.stringify(keys);

const notOurs = () =>
  new RunOwnershipLost('The run has ended or continues in another process. Writes of this process are discarded.');

/** The id of the run that writes; null for a manual update. */
function runIdOf({ configurable }: RunnableConfig): string | null {
  const id: unknown = configurable?.['run_id'];
  return typeof id === 'string' ? id : null;
}

const runOf = ({ configurable = {} }: RunnableConfig): object =>
  Object.fromEntries(runKeys.map((key) => [key, configurable[key]]).filter(([, value]) => typeof value === 'string'));

const bytesOf = (parts: readonly (Uint8Array | undefined)[]): number =>
  parts.reduce((bytes, part) => bytes + (part?.byteLength ?? 0), 0);
