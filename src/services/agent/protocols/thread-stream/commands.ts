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
} from '../../../../contract/agent/thread-stream.ts';
import { toPlainNumbers } from '../../../../kit/exact-number.ts';
import { validateExactly } from '../../api/body.ts';
import type { FreeObject } from '../../../../contract/agent/open-word.ts';
import { commandError, CommandRefusal, refusalOf, type CommandContext } from './command.ts';
import { cursorOf, eventsOfChannels, matchesFilter } from './event.ts';
import { fork, readThread, respond, startRun } from './run-commands.ts';
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

/** Never fails: clients would repeat the command. Subscriptions need no access, so they reveal no progress. */
async function metaOf({ method }: ThreadCommand, { store, threadId }: CommandContext): Promise<FreeObject> {
  if (method.startsWith('subscription.')) return { thread_id: threadId };
  try {
    return { thread_id: threadId, applied_through_seq: await store.lastSeq(threadId) };
  } catch {
    return { thread_id: threadId };
  }
}

type Carry = (command: ThreadCommand, context: CommandContext) => object | Promise<object>;

/** A command whose parameters are checked before it is carried out. */
const checked =
  <T>(schema: z.ZodType<T>, carry: (params: T, context: CommandContext) => object | Promise<object>): Carry =>
  (command, context) =>
    carry(read(schema, command), context);

const commands: ReadonlyMap<string, Carry> = new Map([
  ['run.start', checked(runStartParams, startRun)],
  ['input.respond', checked(inputRespondParams, respond)],
  ['state.get', checked(stateGetParams, readState)],
  ['state.listCheckpoints', checked(listCheckpointsParams, listCheckpoints)],
  ['state.fork', checked(stateForkParams, fork)],
  ['agent.getTree', checked(getTreeParams, readTree)],
  ['subscription.subscribe', checked(threadEventFilter, subscribe)],
  ['subscription.unsubscribe', checked(unsubscribeParams, unsubscribe)],
]);

/** What to do in the place of commands of the protocol that are not carried out. */
const unsupported: ReadonlyMap<string, string> = new Map([
  ['subscription.reconnect', 'Subscribe again, with the seq of the last event as since.'],
  ['input.inject', 'A run that has begun takes no input. Start another one with run.start; it is queued.'],
]);

async function resultOf(command: ThreadCommand, context: CommandContext): Promise<object> {
  const { method } = command;
  const carry = commands.get(method);
  if (carry) return carry(command, context);
  const advice = unsupported.get(method);
  if (advice !== undefined) throw new CommandRefusal('not_supported', `${method} is not supported here. ${advice}`);
  const known = [...commands.keys()].join(', ');
  throw new CommandRefusal('unknown_command', `There is no command "${method}". Use ${known}.`);
}

const maxSubscriptions = 100;

async function subscribe(filter: ThreadEventFilter, context: CommandContext): Promise<object> {
  const { subscriptions } = context;
  if (!subscriptions) throw needsConnection();
  if (subscriptions.count() >= maxSubscriptions) {
    const problem = `This connection has ${maxSubscriptions} subscriptions, which is the most.`;
    throw new CommandRefusal('invalid_argument', `${problem} End one with subscription.unsubscribe.`);
  }
  const replayed = await countKept(filter, context);
  return { subscription_id: subscriptions.add(filter), replayed_events: replayed };
}

/** How many kept events a subscription gets first; none of a thread that the caller may not read. */
async function countKept(filter: ThreadEventFilter, { api, store, threadId }: CommandContext): Promise<number> {
  if ((await readThread({ api, threadId })) === undefined) return 0;
  // Without namespaces and names of custom events, the data need not be read.
  const readsData = filter.namespaces !== undefined || filter.channels.some((channel) => channel.includes(':'));
  const names = readsData ? eventsOfChannels(filter.channels) : [];
  let cursor = filter.since === undefined ? { sequence: -1, id: -1 } : cursorOf(filter.since);
  let count = 0;
  for (;;) {
    const page = await store.after(threadId, cursor, names);
    const last = page.at(-1);
    if (last === undefined) return count;
    count += page.filter(({ event, json }) => matchesFilter(filter, { event, json: json ?? 'null' })).length;
    cursor = last;
  }
}

function unsubscribe({ subscription_id: id }: z.infer<typeof unsubscribeParams>, { subscriptions }: CommandContext) {
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

function read<T>(schema: z.ZodType<T>, { method, params = {} }: ThreadCommand): T {
  const parsed = schema.safeParse(toPlainNumbers(params));
  if (parsed.success) return validateExactly(schema, params, parsed.data);
  const problems = parsed.error.issues.map(({ path, message }) => `params.${path.join('.')}: ${message}`);
  throw new CommandRefusal('invalid_argument', `${method} is not valid. ${problems.join('; ')}.`);
}
