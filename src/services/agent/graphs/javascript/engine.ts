import type { SerializerProtocol } from '@langchain/langgraph-checkpoint';
import { enginePackage, engineProblem } from '../../../../agent-folder/packages/lock-files.ts';
import type { Command } from '../../../../contract/agent/run.ts';
import { StartupError } from '../../startup-error.ts';
import { withoutPolling } from '../../store/without-polling.ts';
import { exportOf, importFile } from './agent-export.ts';
import { moduleKind, packageEntry, packageVersion } from './package-entry.ts';
import { hasMethods, memberOf } from '../../members.ts';
import type { GraphInside } from '../graph.ts';
import type { EngineLanguage } from '../checkpoint-language.ts';
import { tolerantSerializer } from './tolerant-serializer.ts';

export interface MemoryCheckpoints {
  deleteThread(threadId: string): Promise<void>;
}

/** The graph engine that the agent's graph imports: another build would revive messages as other classes. */
export interface Engine {
  language: EngineLanguage;
  serializer: SerializerProtocol;
  /** Whether its checkpoints hold the tasks that nodes send beside the channels: it is older than 0.4. */
  keepsPendingSends: boolean;
  /** Creates a checkpointer in memory, for stateless runs. */
  memoryCheckpoints(): MemoryCheckpoints;
  command(command: Command): unknown;
  /** Reads a graph's schemas; undefined if the engine does not support it. Loaded on first use. */
  schemaReaders(): Promise<SchemaReaders | undefined>;
  /** The reducer that merges messages: a channel with it holds a conversation. */
  joinsMessages: unknown;
}

/** Loads the engine that `graphFile` imports. @throws StartupError if there is none, or an incompatible one. */
export async function loadEngine(graphFile: string, graphId: string): Promise<Engine> {
  const kind = moduleKind(graphFile);
  const entry = packageEntry(enginePackage, graphFile, kind);
  if (entry === undefined) {
    const advice = `Add ${enginePackage} to the dependencies in package.json and commit the lock file.`;
    throw new StartupError('engine-missing', [
      `Graph "${graphId}" (${graphFile}) has no ${enginePackage} in reach. ${advice}`,
    ]);
  }
  const version = packageVersion(enginePackage, graphFile);
  const tooOld = engineProblem(version);
  if (tooOld !== undefined) throw new StartupError('engine-too-old', [tooOld]);
  const module = await importFile(entry);
  withoutPolling(exportOf(module, 'AsyncBatchedStore'));
  const MemorySaver = classOf(module, 'MemorySaver', version);
  const EngineCommand = classOf(module, 'Command', version);
  const EngineSend = classOf(module, 'Send', version);
  const memorySaver = (serializer?: SerializerProtocol): MemoryCheckpoints & MemorySaverLike => {
    const saver: unknown = new MemorySaver(serializer);
    if (!isMemorySaver(saver)) throw unusable('MemorySaver', version);
    if (hasDeleteThread(saver)) return saver;
    const deleteThread = async (threadId: string): Promise<void> => deleteFromMemory(saver, threadId);
    return Object.assign(saver, { deleteThread });
  };
  const serializer = tolerantSerializer(memorySaver().serde);
  const readSchemas = async (): Promise<SchemaReaders | undefined> => {
    const entryFile = packageEntry(enginePackage, graphFile, kind, './zod/schema');
    const readers = entryFile === undefined ? undefined : await importFile(entryFile);
    return isSchemaReaders(readers) ? readers : undefined;
  };
  let readers: Promise<SchemaReaders | undefined> | undefined;
  return {
    language: 'javascript',
    serializer,
    keepsPendingSends: !hasMethods(MemorySaver.prototype, 'deleteThread'),
    schemaReaders: () => (readers ??= readSchemas()),
    joinsMessages: exportOf(module, 'messagesStateReducer'),
    memoryCheckpoints: () => memorySaver(serializer),
    command: ({ update, resume, goto }) => {
      const one = (target: unknown) =>
        isSend(target) ? new EngineSend(target.node, 'input' in target ? target.input : target.args) : target;
      return new EngineCommand({
        ...(update === undefined || update === null ? {} : { update }),
        ...(resume === undefined ? {} : { resume }),
        ...(goto === undefined || goto === null ? {} : { goto: Array.isArray(goto) ? goto.map(one) : one(goto) }),
      });
    },
  };
}

type Class = (new (...args: unknown[]) => unknown) & { prototype: unknown };

function classOf(module: object, name: string, version: string | undefined): Class {
  const value = exportOf(module, name);
  if (!isClass(value)) throw unusable(name, version);
  return value;
}

const unusable = (name: string, version = 'of an unknown version') =>
  new StartupError('engine-missing', [
    `${enginePackage} ${version} does not export ${name} as expected. Use version 1 of ${enginePackage}.`,
  ]);

const isClass = (value: unknown): value is Class => typeof value === 'function';

const isSend = (target: unknown): target is { node: string; input?: unknown; args?: unknown } =>
  typeof memberOf(target, 'node') === 'string';

interface MemorySaverLike {
  serde: SerializerProtocol;
}

const isMemorySaver = (value: unknown): value is MemorySaverLike =>
  hasMethods(memberOf(value, 'serde'), 'dumpsTyped', 'loadsTyped');

const hasDeleteThread = (value: MemorySaverLike): value is MemorySaverLike & MemoryCheckpoints =>
  hasMethods(value, 'deleteThread');

/** The engine's readers of a graph's schemas; undefined results for a state without types at run time. */
interface SchemaReaders {
  getStateTypeSchema(graph: GraphInside): unknown;
  getInputTypeSchema(graph: GraphInside): unknown;
  getOutputTypeSchema(graph: GraphInside): unknown;
  getConfigTypeSchema(graph: GraphInside): unknown;
}

const isSchemaReaders = (module: unknown): module is SchemaReaders =>
  hasMethods(module, 'getStateTypeSchema', 'getInputTypeSchema', 'getOutputTypeSchema', 'getConfigTypeSchema');

// What engines before 0.4 keep in another form than the later ones do.

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
