import type * as z from 'zod';
import {
  getTreeParams,
  inputRespondParams,
  listCheckpointsParams,
  runStartParams,
  stateForkParams,
  stateGetParams,
  threadEventFilter,
  unsubscribeParams,
  type CommandResponse,
  type ThreadCommand,
  type ThreadEventFilter,
} from '../../../contract/agent/thread-stream.ts';
import type { FreeObject } from '../../../contract/agent/open-word.ts';
import { commandError, CommandRefusal, refusalOf, type CommandContext } from './command.ts';
import { fork, respond, startRun } from './run-commands.ts';
import { listCheckpoints, readState, readTree } from './state-commands.ts';

/**
 * Carries out a command of the thread-stream protocol. Its response says whether it succeeded.
 *
 * @throws Refusal for what is no mistake of the command: the server shuts down, the database is unavailable.
 */
export async function carryOut(command: ThreadCommand, context: CommandContext): Promise<CommandResponse> {
  const { id } = command;
  try {
    const result = await resultOf(command, context);
    return { type: 'success', id, result, meta: await metaOf(command, context) };
  } catch (error) {
    const refused = refusalOf(error);
    if (refused === undefined) throw error;
    return commandError(id, refused.code, refused.message);
  }
}

/**
 * Never fails: a client would repeat a command that was carried out. Subscriptions need no access to the thread, so they
 * don't tell how far it is.
 */
async function metaOf({ method }: ThreadCommand, { store, threadId }: CommandContext): Promise<FreeObject> {
  if (method.startsWith('subscription.')) return { thread_id: threadId };
  try {
    return { thread_id: threadId, applied_through_seq: await store.lastSeq(threadId) };
  } catch {
    return { thread_id: threadId };
  }
}

/** The commands that are carried out here. */
const commandNames = [
  'run.start',
  'input.respond',
  'state.get',
  'state.listCheckpoints',
  'state.fork',
  'agent.getTree',
  'subscription.subscribe',
  'subscription.unsubscribe',
];

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
    case 'state.listCheckpoints':
      return listCheckpoints(read(listCheckpointsParams, method, params), context);
    case 'state.fork':
      return fork(read(stateForkParams, method, params), context);
    case 'subscription.subscribe':
      return Promise.resolve(subscribe(read(threadEventFilter, method, params), context));
    case 'subscription.unsubscribe':
      return Promise.resolve(unsubscribe(read(unsubscribeParams, method, params), context));
    case 'subscription.reconnect':
      throw new CommandRefusal(
        'not_supported',
        `${method} is not supported here. Subscribe again, with the seq of the last event as since.`,
      );
    case 'input.inject':
      throw new CommandRefusal(
        'not_supported',
        `${method} is not supported here: a run that has begun takes no input. Start another one with run.start; it is queued.`,
      );
    default:
      throw new CommandRefusal('unknown_command', `There is no command "${method}". Use ${commandNames.join(', ')}.`);
  }
}

/** The most subscriptions of one connection. */
const mostSubscriptions = 100;

function subscribe(filter: ThreadEventFilter, { subscriptions }: CommandContext): object {
  if (!subscriptions) throw needsConnection();
  if (subscriptions.count() >= mostSubscriptions) {
    const problem = `This connection has ${mostSubscriptions} subscriptions, which is the most.`;
    throw new CommandRefusal('invalid_argument', `${problem} End one with subscription.unsubscribe.`);
  }
  return { subscription_id: subscriptions.add(filter) };
}

function unsubscribe(
  { subscription_id: id }: z.infer<typeof unsubscribeParams>,
  { subscriptions }: CommandContext,
): object {
  if (!subscriptions) throw needsConnection();
  if (!subscriptions.remove(id)) {
    const problem = `This connection has no subscription "${id}".`;
    throw new CommandRefusal('no_such_subscription', `${problem} Use the id that subscription.subscribe returned.`);
  }
  return {};
}

const needsConnection = (): CommandRefusal =>
  new CommandRefusal(
    'not_supported',
    'Subscriptions are those of a WebSocket (GET /threads/{thread_id}/stream/events). By plain requests, a stream of events (POST) chooses its channels when it is opened.',
  );

function read<T>(schema: z.ZodType<T>, method: string, params: object): T {
  const parsed = schema.safeParse(params);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => `params.${path.join('.')}: ${message}`);
  throw new CommandRefusal('invalid_argument', `${method} is not valid. ${problems.join('; ')}.`);
}
