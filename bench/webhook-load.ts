// Sends webhooks from its own process over bare connections, so that the server is not charged for sending and the sender
// uses little of the machine.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import * as z from 'zod';
import { pushPayload, webhookRequests } from './webhook.ts';

const RoundRequest = z.object({ count: z.int(), atOnce: z.int() });
const Reply = z.union([z.object({ ready: z.literal(true) }), z.object({ ms: z.number() })]);

/** Who sends webhooks to a port of this machine. */
export interface WebhookLoad {
  /** Sends so many, so many at once; resolves with how long it took until the last answer (ms). */
  send(count: number, atOnce: number): Promise<number>;
}

/** Starts the sender, a process that exits with its parent. */
export async function startWebhookLoad(port: number): Promise<WebhookLoad> {
  const child = fork(import.meta.filename, [String(port)], { stdio: ['ignore', 2, 'inherit', 'ipc'] });
  const gone = once(child, 'exit').then(([code]: unknown[]) =>
    Promise.reject(new Error(`the load ended: ${String(code)}`)),
  );
  gone.catch(() => undefined);
  const next = async () => {
    const [message]: unknown[] = await Promise.race([once(child, 'message'), gone]);
    return Reply.parse(message);
  };
  await next();
  return {
    async send(count, atOnce) {
      const notes = next();
      child.send({ count, atOnce });
      const answer = await notes;
      if (!('ms' in answer)) throw new Error('the load process did not return its duration');
      return answer.ms;
    },
  };
}

/** One connection, kept alive: a request is sent when the answer before it is there. */
async function sending(port: number, next: () => Buffer | undefined): Promise<void> {
  const socket = connect({ host: '127.0.0.1', port, noDelay: true });
  await once(socket, 'connect');
  try {
    for (let request = next(); request; request = next()) await answered(socket, request);
  } finally {
    socket.destroy();
  }
}

function answered(socket: Socket, request: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    let text = '';
    const end = (error?: Error): void => {
      socket.off('data', onData).off('error', end).off('close', onClose);
      if (error) reject(error);
      else resolve();
    };
    const onClose = (): void => end(new Error(`the connection ended after ${JSON.stringify(text)}`));
    const onData = (chunk: Buffer): void => {
      text += chunk.toString('latin1');
      const read = /^HTTP\/1\.1 (\d{3})[^]*?\r\ncontent-length: (\d+)\r\n[^]*?\r\n\r\n/i.exec(text);
      if (!read) return;
      const [head, status, length] = read;
      if (text.length < head.length + Number(length)) return;
      end(status?.startsWith('2') ? undefined : new Error(`a webhook was refused: ${text}`));
    };
    socket.on('data', onData).on('error', end).on('close', onClose);
    socket.write(request);
  });
}

function load(port: number): void {
  const request = webhookRequests(`127.0.0.1:${port}`, pushPayload());
  process.on('disconnect', () => process.exit());
  process.on('message', (message) => {
    const { count, atOnce } = RoundRequest.parse(message);
    let left = count;
    const next = (): Buffer | undefined => (left-- > 0 ? request() : undefined);
    const began = performance.now();
    void Promise.all(Array.from({ length: atOnce }, () => sending(port, next))).then(() =>
      process.send?.({ ms: performance.now() - began }),
    );
  });
  process.send?.({ ready: true });
}

if (import.meta.main) load(Number(process.argv[2]));
