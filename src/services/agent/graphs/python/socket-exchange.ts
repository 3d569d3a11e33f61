import type { RawData, WebSocket } from 'ws';
import * as z from 'zod';
import type { Upgrade } from '../../api/web-sockets.ts';
import type { Answer } from './connection.ts';
import type { RestOfResponse } from './http-bodies.ts';

/** Messages that wait for the worker before the client has to. */
const maxWaiting = 16;

/** The close code of a socket whose application failed (RFC 6455, section 7.4.1). */
const failed = 1011;

const said = z.discriminatedUnion('type', [
  z.object({ type: z.literal('send'), text: z.string().nullable() }),
  z.object({ type: z.literal('close'), code: z.int(), reason: z.string() }),
]);

/** What the client of a WebSocket sends, as the worker asks for it. */
export class SocketMessages {
  readonly #messages: Answer[] = [];
  #gone: Answer | undefined;
  #wake: () => void = () => undefined;
  #socket: WebSocket | undefined;

  /** The next message; after the last one that the client has left. */
  async read(): Promise<Answer> {
    for (;;) {
      const next = this.#messages.shift();
      if (next && this.#messages.length < maxWaiting && this.#socket?.isPaused) this.#socket.resume();
      if (next) return next;
      if (this.#gone) return this.#gone;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** The client has left, or nobody asks any more. */
  leave(code = 1006, reason = ''): void {
    this.#gone ??= { value: { gone: true, code, reason } };
    this.#wake();
  }

  /** Grants the WebSocket as the application has accepted it. @param rest what the application says then. */
  accept(
    upgrade: Upgrade,
    { subprotocol, headers }: { subprotocol: string | null; headers: [string, string][] },
    rest: RestOfResponse,
  ): void {
    Object.assign(upgrade, { subprotocol, headers });
    upgrade.decline = () => {
      this.leave();
      void rest.drain();
    };
    upgrade.accept = (socket) => {
      this.#listen(socket);
      void speak(socket, rest);
    };
  }

  #listen(socket: WebSocket): void {
    this.#socket = socket;
    // It is closed after an error.
    socket.on('error', () => undefined);
    socket.on('close', (code, reason) => this.leave(code, reason.toString()));
    socket.on('message', (data, isBinary) => {
      const bytes = bytesOf(data);
      this.#messages.push(
        isBinary
          ? { value: { gone: false, text: null }, attachments: [bytes] }
          : { value: { gone: false, text: bytes.toString() } },
      );
      if (this.#messages.length >= maxWaiting) socket.pause();
      this.#wake();
    });
  }
}

function bytesOf(data: RawData): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data);
  return Buffer.isBuffer(data) ? data : Buffer.from(data);
}

/** Sends to the client what the application says, as fast as the client takes it, until either ends. */
async function speak(socket: WebSocket, { events, drain, fail }: RestOfResponse): Promise<void> {
  try {
    for (;;) {
      const { done, value } = await events.next();
      const event = done ? undefined : said.parse(value.value);
      if (event?.type !== 'send') {
        socket.close(event?.code, event?.reason);
        return void drain();
      }
      await new Promise<void>((resolve) => {
        // One that is closed takes no more; the application hears of it by its next message.
        socket.send(event.text ?? value.attachments?.[0] ?? '', () => resolve());
      });
    }
  } catch (error) {
    socket.close(failed);
    fail(error);
  }
}

/** The response to a client whose WebSocket the application does not accept. */
export const refusedSocket = (): Response =>
  Response.json({ detail: 'The application does not accept this WebSocket.' }, { status: 403 });
