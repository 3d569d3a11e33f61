import * as z from 'zod';
import { multitaskStrategies, runSchema } from '../../../contract/agent/run.ts';
import { freeObject, stateValues, type FreeObject } from '../../../contract/agent/open-word.ts';
import {
  getTreeParams,
  inputRespondParams,
  runStartParams,
  stateGetParams,
  type CommandError,
  type CommandResponse,
  type ThreadCommand,
} from '../../../contract/agent/thread-stream.ts';
import { isObject } from '../../../contract/json-object.ts';
import { isUuid } from '../../../contract/uuid.ts';
import { Refusal } from '../../refusal.ts';
import { threadStreamHeader, type InternalApi } from '../internal-api.ts';
import type { NamespaceStatus, ThreadEventStore } from './store.ts';

export interface CommandContext {
  /** The server's own operations, as the caller. */
  api: InternalApi;
  store: ThreadEventStore;
  threadId: string;
}

/** A command that is refused: reported in its response, not by an HTTP status. */
class CommandRefusal extends Error {
  readonly code: CommandError;

  constructor(code: CommandError, message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * Carries out a command of the thread-stream protocol. Its response says whether it succeeded.
 *
 * @throws Refusal for what is no mistake of the command: the server shuts down, the database is unavailable.
 */
export async function carryOut(command: ThreadCommand, context: CommandContext): Promise<CommandResponse> {
  const { id } = command;
  try {
    const result = await resultOf(command, context);
    return { type: 'success', id, result, meta: await metaOf(context) };
  } catch (error) {
    const refused = refusalOf(error);
    if (refused === undefined) throw error;
    return commandError(id, refused.code, refused.message);
  }
}

/** Never fails: a client would repeat a command that was carried out. */
async function metaOf({ store, threadId }: CommandContext): Promise<FreeObject> {
  try {
    return { thread_id: threadId, applied_through_seq: await store.lastSeq(threadId) };
  } catch {
    return { thread_id: threadId };
  }
}

const commandError = (id: number | null, error: CommandError, message: string): CommandResponse => ({
  type: 'error',
  id,
  error,
  message,
});

function resultOf({ method, params = {} }: ThreadCommand, context: CommandContext): Promise<object> {
  switch (method) {
    case 'run.start':
      return startRun(read(runStartParams, method, params), context);
    case 'input.respond':
      return respond(read(inputRespondParams, method, params), context);
    case 'state.get':
      return readState(read(stateGetParams, method, params), context);
    case 'agent.getTree':
      return readTree(read(getTreeParams, method, params), context);
    case 'subscription.subscribe':
    case 'subscription.unsubscribe':
    case 'subscription.reconnect':
    case 'input.inject':
      throw new CommandRefusal(
        'not_supported',
        `${method} is not supported here. A stream of events (POST /threads/{thread_id}/stream/events) chooses its channels when it is opened.`,
      );
    default:
      throw new CommandRefusal(
        'unknown_command',
        `There is no command "${method}". Use run.start, input.respond, state.get or agent.getTree.`,
      );
  }
}

function read<T>(schema: z.ZodType<T>, method: string, params: object): T {
  const parsed = schema.safeParse(params);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => `params.${path.join('.')}: ${message}`);
  throw new CommandRefusal('invalid_argument', `${method} is not valid. ${problems.join('; ')}.`);
}

/** What a command is refused for; undefined if the error is no mistake of the command. */
function refusalOf(error: unknown): Pick<CommandRefusal, 'code' | 'message'> | undefined {
  if (error instanceof CommandRefusal) return error;
  if (!(error instanceof Refusal) || error.status >= 500) return undefined;
  const isDenied = error.status === 401 || error.status === 403;
  return { code: isDenied ? 'permission_denied' : 'invalid_argument', message: error.message };
}

const threadResponse = z.looseObject({
  status: z.string(),
  metadata: freeObject.nullish(),
  interrupts: z.record(z.string(), z.array(z.unknown())).nullish(),
});

/** The thread; undefined if there is none that the caller may read. */
export async function readThread({
  api,
  threadId,
}: Pick<CommandContext, 'api' | 'threadId'>): Promise<z.infer<typeof threadResponse> | undefined> {
  try {
    return await api.read(threadResponse, 'GET', `/threads/${threadId}`);
  } catch (error) {
    if (error instanceof Refusal && error.status === 404) return undefined;
    throw error;
  }
}

/** The ids of the interrupts that a thread waits for. */
const openInterrupts = (thread: z.infer<typeof threadResponse> | undefined): string[] =>
  thread?.status === 'interrupted'
    ? Object.values(thread.interrupts ?? {})
        .flat()
        .flatMap((each) => (isObject(each) && typeof each['id'] === 'string' ? [each['id']] : []))
    : [];

/** Starts a run with an input; on a thread that waits for an answer, the input is that answer. */
async function startRun(
  { assistant_id, input, config, metadata, multitaskStrategy }: z.infer<typeof runStartParams>,
  context: CommandContext,
): Promise<object> {
  const resumes = input != null && openInterrupts(await readThread(context)).length > 0;
  const strategy = multitaskStrategies.find((each) => each === multitaskStrategy);
  const run = await createRun(context, {
    assistant_id,
    ...(resumes ? { command: { resume: input } } : { input }),
    ...runOptions(config, metadata),
    multitask_strategy: strategy ?? 'enqueue',
  });
  return { run_id: run.run_id };
}

async function respond(
  { responses, config, metadata, update, goto }: z.output<typeof inputRespondParams>,
  context: CommandContext,
): Promise<object> {
  const thread = await readThread(context);
  const assistantId = thread?.metadata?.['assistant_id'];
  if (typeof assistantId !== 'string') {
    throw new CommandRefusal('no_such_run', 'No run of this thread waits for a response. Start one with run.start.');
  }
  const open = openInterrupts(thread);
  if (open.length === 0) {
    const message = 'No run of this thread waits for a response. Send it after the event input.requested.';
    throw new CommandRefusal('invalid_argument', message);
  }
  const unknown = responses.find(({ interrupt_id }) => !open.includes(interrupt_id));
  if (unknown) {
    const waiting = open.map((id) => `"${id}"`).join(', ');
    const message = `The thread has no interrupt "${unknown.interrupt_id}". It waits for ${waiting}.`;
    throw new CommandRefusal('no_such_interrupt', message);
  }
  const resume = Object.fromEntries(responses.map(({ interrupt_id, response }) => [interrupt_id, response ?? null]));
  const command = { resume, ...(update == null ? {} : { update }), ...(goto == null ? {} : { goto }) };
  await createRun(context, { assistant_id: assistantId, command, ...runOptions(config, metadata) });
  return {};
}

/** The configuration of a run; a client forks a thread by a checkpoint in it. */
function runOptions(config: FreeObject | null | undefined, metadata: FreeObject | null | undefined): object {
  const configurable = config?.['configurable'];
  const checkpointId = isObject(configurable) ? configurable['checkpoint_id'] : undefined;
  return {
    config: config ?? undefined,
    metadata: metadata ?? undefined,
    ...(typeof checkpointId === 'string' ? { checkpoint_id: checkpointId } : {}),
  };
}

const createRun = ({ api, threadId }: CommandContext, request: object): Promise<z.infer<typeof runSchema>> =>
  api.read(runSchema, 'POST', `/threads/${threadId}/runs`, {
    headers: { [threadStreamHeader]: 'true' },
    body: { ...request, stream_resumable: true, if_not_exists: 'create' },
  });

const stateResponse = z.looseObject({ values: stateValues.nullish(), checkpoint: freeObject.nullish() });

async function readState({ keys }: z.infer<typeof stateGetParams>, { api, threadId }: CommandContext): Promise<object> {
  const state = await api.read(stateResponse, 'GET', `/threads/${threadId}/state?subgraphs=true`);
  const { checkpoint, values } = state;
  const id = checkpoint?.['checkpoint_id'];
  const ns = checkpoint?.['checkpoint_ns'];
  return {
    values:
      keys === undefined || !isObject(values)
        ? values
        : Object.fromEntries(Object.entries(values).filter(([key]) => keys.includes(key))),
    ...(typeof id === 'string' ? { checkpoint: { id, ...(typeof ns === 'string' ? { ns } : {}) } } : {}),
  };
}

interface TreeNode {
  namespace: string[];
  status: string;
  graph_name: string;
  children?: TreeNode[];
}

async function readTree({ run_id }: z.infer<typeof getTreeParams>, context: CommandContext): Promise<object> {
  const { api, store, threadId } = context;
  await api.ask('GET', `/threads/${threadId}`);
  const statuses = run_id === undefined || isUuid(run_id) ? await store.statuses(threadId, run_id) : [];
  const root = statuses.find(({ namespace }) => namespace.length === 0);
  if (!root) throw new CommandRefusal('no_such_run', 'This thread has no run with events. Start one with run.start.');
  return { tree: treeBelow(root, statuses) };
}

/** The tree of a run's subgraphs. */
export function treeBelow(node: NamespaceStatus, all: readonly NamespaceStatus[]): TreeNode {
  const { namespace, status, graphName } = node;
  const children = all
    .filter(
      (each) => each.namespace.length === namespace.length + 1 && namespace.every((s, at) => each.namespace[at] === s),
    )
    .map((child) => treeBelow(child, all));
  const own = namespace.at(-1)?.split(':')[0];
  return {
    namespace,
    status,
    graph_name: graphName ?? own ?? 'root',
    ...(children.length > 0 ? { children } : {}),
  };
}
