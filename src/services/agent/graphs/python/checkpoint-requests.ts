import type {
  BaseCheckpointSaver,
  Checkpoint,
  CheckpointTuple,
  SerializerProtocol,
} from '@langchain/langgraph-checkpoint';
import * as z from 'zod';
import { OtherLanguage, storedTypes } from '../checkpoint-language.ts';
import type { Answer, Asked } from './connection.ts';
import { plainInteger, plainNumber } from './headers.ts';

/** A value in the agent's own serialisation, which this server stores and never reads. */
class Opaque {
  readonly type: string;
  readonly bytes: Uint8Array;

  constructor(type: string, bytes: Uint8Array) {
    this.type = type;
    this.bytes = bytes;
  }
}

/** Passes opaque values on. Others are the server's own, such as the answer that it withdraws: JSON. */
export const opaqueSerializer: SerializerProtocol = {
  async dumpsTyped(value: unknown) {
    if (value instanceof Opaque) return [value.type, value.bytes];
    return ['json', new TextEncoder().encode(JSON.stringify(value))];
  },
  async loadsTyped(type: string, stored: string | Uint8Array) {
    return new Opaque(type, typeof stored === 'string' ? new TextEncoder().encode(stored) : stored);
  },
};

// What a worker asks of the checkpoints of a thread (docs/design/python-worker.md#checkpoints).

/** The checkpoints that a worker may use while it answers one request. */
export type UsedCheckpoints = Pick<BaseCheckpointSaver, 'getTuple' | 'list' | 'put' | 'putWrites'>;

const place = z.record(z.string(), z.unknown());
const typed = z.tuple([z.string(), z.string()]);
const channelVersions = z.record(z.string(), z.union([z.string(), plainNumber]));
const putArgs = z.object({
  place,
  checkpoint: z.looseObject({
    v: plainNumber,
    id: z.string(),
    ts: z.string(),
    channel_versions: channelVersions,
    versions_seen: z.record(z.string(), channelVersions),
  }),
  metadata: z.looseObject({
    source: z.enum(['input', 'loop', 'update', 'fork']),
    step: plainNumber,
    parents: z.record(z.string(), z.string()).default({}),
  }),
  values: z.array(typed),
  versions: channelVersions,
});
const writesArgs = z.object({ place, task_id: z.string(), writes: z.array(typed) });
const listArgs = z.object({
  place,
  filter: place.nullable(),
  before: place.nullable(),
  limit: plainInteger.nullable(),
});

/** Answers a request about checkpoints. @throws what the checkpoints throw, such as that the run has ended. */
export async function answerAboutCheckpoints(asked: Asked, checkpoints: UsedCheckpoints): Promise<Answer> {
  switch (asked.op) {
    case 'checkpoint.get': {
      const { place: where } = z.object({ place }).parse(asked.args);
      return shown([await checkpoints.getTuple({ configurable: where })], ([one]) => one ?? null);
    }
    case 'checkpoint.list': {
      const { place: where, filter, before, limit } = listArgs.parse(asked.args);
      const found = await Array.fromAsync(
        checkpoints.list(
          { configurable: where },
          {
            ...(filter ? { filter } : {}),
            ...(before ? { before: { configurable: before } } : {}),
            ...(limit === null ? {} : { limit }),
          },
        ),
      );
      return shown(found, (all) => all);
    }
    case 'checkpoint.put': {
      const { place: where, checkpoint, metadata, values, versions } = putArgs.parse(asked.args);
      const entries = opaques(values, asked.attachments);
      const stored: Checkpoint = { ...checkpoint, channel_values: Object.fromEntries(entries) };
      await checkpoints.put({ configurable: where }, stored, metadata, versions);
      return {};
    }
    case 'checkpoint.writes': {
      const { place: where, task_id: taskId, writes } = writesArgs.parse(asked.args);
      await checkpoints.putWrites({ configurable: where }, opaques(writes, asked.attachments), taskId);
      return {};
    }
    default:
      throw new Error(`The worker asks for "${asked.op}", which this server does not know.`);
  }
}

const opaques = (of: readonly [string, string][], attachments: readonly Uint8Array[]): [string, Opaque][] =>
  of.map(([channel, type], index) => [channel, new Opaque(type, attachments[index] ?? new Uint8Array())]);

/** Checkpoints as the worker reads them: their values are attachments, those of the channels before the writes. */
function shown(tuples: readonly (CheckpointTuple | undefined)[], valueOf: (shown: (object | undefined)[]) => unknown) {
  const attachments: Uint8Array[] = [];
  const typeOf = (value: unknown): string => {
    if (!(value instanceof Opaque)) throw new TypeError('A stored value is none of the worker.');
    attachments.push(value.bytes);
    return value.type;
  };
  const typeInState = (value: unknown): string => {
    const type = typeOf(value);
    if (type === storedTypes.javascript) throw new OtherLanguage('javascript');
    return type;
  };
  const all = tuples.map((tuple) => {
    if (!tuple) return undefined;
    const { channel_values: values, ...checkpoint } = tuple.checkpoint;
    return {
      config: tuple.config.configurable,
      checkpoint,
      metadata: tuple.metadata ?? {},
      parent: tuple.parentConfig?.configurable ?? null,
      values: Object.entries(values).map(([channel, value]) => [channel, typeInState(value)]),
      writes: (tuple.pendingWrites ?? []).map(([task, channel, value]) => [task, channel, typeOf(value)]),
    };
  });
  return { value: valueOf(all), attachments };
}
