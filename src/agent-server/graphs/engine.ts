import type { SerializerProtocol } from '@langchain/langgraph-checkpoint';
import type { Command } from '../../contract/agent/run.ts';
import { StartupError } from '../startup-error.ts';
import { withoutPolling } from '../store/unpolled.ts';
import { exportOf, importFile } from './import-file.ts';
import { moduleKind, packageEntryFile, packageEntry } from './package-entry.ts';
import { isSchemaReaders } from './schema-readers.ts';
import type { SchemaReaders } from './schema-readers.ts';

/** The package that the graph engine comes in. */
const ENGINE = '@langchain/langgraph';

/** The engine's checkpoints in memory. */
export interface MemoryCheckpoints {
  deleteThread(threadId: string): Promise<void>;
}

/**
 * The graph engine of one agent: the very build that the agent's graph imports. Messages revived by another build
 * would be of other classes than the ones the graph asks for.
 */
export interface Engine {
  /** How the engine's checkpoints become bytes and back. */
  serializer: SerializerProtocol;
  /** Makes checkpoints that live as long as the process, for runs that keep no state. */
  memoryCheckpoints(): MemoryCheckpoints;
  /** The engine's form of a command of the API. */
  command(command: Command): unknown;
  /** What tells a graph's schemas; undefined in an engine that knows no way. Loaded when it is first asked for. */
  schemaReaders(): Promise<SchemaReaders | undefined>;
  /** The reducer by which the engine joins messages: a channel that has it holds a conversation. */
  joinsMessages: unknown;
}

/**
 * Loads the engine that `graphFile` gets when it imports it.
 *
 * @throws StartupError when the agent's folder has no engine, or one that lacks what is needed.
 */
export async function loadEngine(graphFile: string, graphId: string): Promise<Engine> {
  const kind = moduleKind(graphFile);
  const entry = packageEntry(ENGINE, graphFile, kind);
  if (entry === undefined) {
    const advice = `Add ${ENGINE} to the dependencies in package.json and commit the lock file.`;
    throw new StartupError('engine-missing', [
      `Graph "${graphId}" (${graphFile}) has no ${ENGINE} in reach. ${advice}`,
    ]);
  }
  const module = await importFile(entry);
  withoutPolling(exportOf(module, 'AsyncBatchedStore'));
  const MemorySaver = classOf(module, 'MemorySaver');
  const EngineCommand = classOf(module, 'Command');
  const EngineSend = classOf(module, 'Send');
  const memoryCheckpoints = () => {
    const saver: unknown = new MemorySaver();
    if (!isMemoryCheckpoints(saver)) throw unusable(entry, 'MemorySaver');
    return saver;
  };
  const { serde } = memoryCheckpoints();
  const readSchemas = async (): Promise<SchemaReaders | undefined> => {
    const entryFile = packageEntryFile(ENGINE, './zod/schema', graphFile, kind);
    const readers = entryFile === undefined ? undefined : await importFile(entryFile);
    return isSchemaReaders(readers) ? readers : undefined;
  };
  let readers: Promise<SchemaReaders | undefined> | undefined;
  return {
    serializer: serde,
    schemaReaders: () => (readers ??= readSchemas()),
    joinsMessages: exportOf(module, 'messagesStateReducer'),
    memoryCheckpoints,
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

type Class = new (...args: unknown[]) => unknown;

function classOf(module: object, name: string): Class {
  const value = exportOf(module, name);
  if (!isClass(value)) throw unusable(ENGINE, name);
  return value;
}

const unusable = (engine: string, name: string) =>
  new StartupError('engine-missing', [`${engine} does not export ${name} as expected. Use version 1 of ${ENGINE}.`]);

const isClass = (value: unknown): value is Class => typeof value === 'function';

const isSend = (target: unknown): target is { node: string; input?: unknown; args?: unknown } =>
  typeof target === 'object' && target !== null && typeof Reflect.get(target, 'node') === 'string';

function isMemoryCheckpoints(value: unknown): value is MemoryCheckpoints & { serde: SerializerProtocol } {
  if (typeof value !== 'object' || value === null) return false;
  const serde: unknown = Reflect.get(value, 'serde');
  return (
    typeof Reflect.get(value, 'deleteThread') === 'function' &&
    typeof serde === 'object' &&
    serde !== null &&
    typeof Reflect.get(serde, 'dumpsTyped') === 'function' &&
    typeof Reflect.get(serde, 'loadsTyped') === 'function'
  );
}
