import { randomUUID } from 'node:crypto';
import type { RawData, WebSocket } from 'ws';
import type { Clock } from '../../../../kit/clock.ts';
import type { Logger } from '../../../../kit/logger.ts';
import {
  threadCommand,
  type CommandResponse,
  type ThreadCommand,
  type ThreadEventFilter,
} from '../../../../contract/agent/thread-stream.ts';
import { stackOf } from '../../../../kit/errors.ts';
import { fromJson } from '../../../../kit/json-text.ts';
import { nestsDeeper, withExactNumbers } from '../../api/body.ts';
import { Backlog } from '../../api/backlog.ts';
import { beat } from '../../api/event-stream.ts';
import { Refusal } from '../../refusal.ts';
import { goingAway } from '../../api/web-sockets.ts';
import { commandError, type CommandContext } from './command.ts';
import { carryOut } from './commands.ts';
import { Subscriptions } from './subscriptions.ts';
import type { ThreadEventStreams } from './thread-event-streams.ts';

/** The interval (ms) of pings. A client that misses one is disconnected. */
const pingMs = 30_000;

export interface ConnectionDependencies extends Omit<CommandContext, 'subscriptions'> {
  streams: ThreadEventStreams;
  /** Whether the caller may read the thread. Checked again with each run: it may change. */
  mayRead: () => Promise<boolean>;
  clock: Clock;
  log: Logger;
  /** Whether free values keep their numbers as they were written. */
  keepsNumbers: boolean;
}

/** Serves the thread-stream protocol on a WebSocket: commands one after the other, and the subscriptions' events. */
export function serveThread(socket: WebSocket, { streams, mayRead, clock, ...context }: ConnectionDependencies): void {
  const closed = new AbortController();
  const subscriptions = new Subscriptions();
  let unfollow: () => void = () => undefined;
  const backlog = new Backlog(clock, closed.signal, {
    bytes: () => socket.bufferedAmount,
    giveUp: () => socket.terminate(),
  });

  function send(text: string): void {
    if (closed.signal.aborted) return;
    socket.send(text);
    backlog.grown(Buffer.byteLength(text));
  }

  function follow(): void {
    unfollow();
    if (closed.signal.aborted || subscriptions.size === 0) return;
    const events = streams.events(context.threadId, subscriptions, mayRead);
    unfollow = events.follow((logged) => {
      if (logged) send(logged.json);
      else socket.close(goingAway, 'The thread was deleted, or the server is shutting down.');
    });
  }

  async function handle(message: string): Promise<void> {
    const added = new Map<string, ThreadEventFilter>();
    const response = await respondTo(message, {
      ...context,
      subscriptions: {
        count: () => subscriptions.size,
        add(filter) {
          const id = randomUUID();
          added.set(id, filter);
          return id;
        },
        remove: (id) => subscriptions.remove(id),
      },
    });
    send(JSON.stringify(response));
    // Not before the response: a client ignores events of a subscription whose id it does not know yet.
    for (const [id, filter] of added) subscriptions.add(id, filter);
    if (added.size > 0 || subscriptions.size === 0) follow();
  }

  let commands = Promise.resolve();
  let pending = 0;
  socket.on('message', (data) => {
    pending += 1;
    // Backpressure: nothing is read while commands are pending.
    socket.pause();
    commands = commands
      .then(() => handle(textOf(data)))
      .finally(() => {
        pending -= 1;
        if (pending === 0) socket.resume();
      });
  });
  let isAlive = true;
  socket.on('pong', () => (isAlive = true));
  void beat(
    clock,
    closed.signal,
    () => {
      if (!isAlive) return socket.terminate();
      isAlive = false;
      socket.ping();
    },
    pingMs,
  );
  // `close` follows, and cleans up.
  socket.on('error', () => undefined);
  socket.on('close', () => {
    closed.abort();
    unfollow();
  });
}

/** Carries out a message of the client. A failure is a response too. */
async function respondTo(
  message: string,
  { log, keepsNumbers, ...context }: CommandContext & Pick<ConnectionDependencies, 'log' | 'keepsNumbers'>,
): Promise<CommandResponse> {
  const command = commandIn(message, keepsNumbers);
  if (!command) {
    return commandError(
      null,
      'invalid_argument',
      'This is not a valid command. Send JSON such as {"id": 1, "method": "run.start", "params": {}}, with an id of 0 or more.',
    );
  }
  try {
    return await carryOut(command, context);
  } catch (error) {
    if (error instanceof Refusal) return commandError(command.id, 'unknown_error', error.message);
    const { id, method } = command;
    log.error(`${method} on thread ${context.threadId} failed: ${stackOf(error)}`);
    return commandError(id, 'unknown_error', `${method} failed. Retry in a moment; the server log has the reason.`);
  }
}

function commandIn(message: string, keepsNumbers: boolean): ThreadCommand | undefined {
  if (nestsDeeper(message)) return undefined;
  const read = threadCommand.safeParse(fromJson(message)).data;
  return read && keepsNumbers ? withExactNumbers(threadCommand, message, read) : read;
}

const textOf = (data: RawData): string =>
  Array.isArray(data)
    ? Buffer.concat(data).toString()
    : data instanceof ArrayBuffer
      ? Buffer.from(data).toString()
      : data.toString();
