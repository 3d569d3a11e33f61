import * as z from 'zod';
import { stackOf } from '../../../../kit/errors.ts';
import type { Logger } from '../../../../kit/logger.ts';
import { maxBodyBytes } from '../../api/body.ts';
import type { AuthUser } from '../../auth/agent-auth.ts';
import type { Upgrade } from '../../api/web-sockets.ts';
import { ClientRequests } from './client-requests.ts';
import { WorkerGone, type Answer, type Asked } from './connection.ts';
import { OwnResponse, RequestBody, type RestOfResponse } from './http-bodies.ts';
import type { GraphHost } from './run-workers.ts';
import { refusedSocket, SocketMessages } from './socket-exchange.ts';

/** What the agent's middleware has made of a request before the server's own route gets it. */
const changed = z.object({ headers: z.array(z.tuple([z.string(), z.string()])).optional() });
export type Changed = z.infer<typeof changed> & { body: Uint8Array | undefined };

/** A request for the agent's application. */
export interface AppRequest {
  request: Request;
  user: AuthUser | undefined;
  /** Present where it asks for a WebSocket. */
  upgrade: Upgrade | undefined;
  /** Whether the server has no such route. */
  isUnknown: boolean;
  /** Calls the server's own route. Absent for an application that has no part in these. */
  next?: (changed: Changed) => Promise<{ response: Response; isUnknown: boolean }>;
}

/** Parts of a response. */
const part = z.discriminatedUnion('type', [
  z.object({ type: z.literal('pass') }),
  z.object({
    type: z.literal('start'),
    status: z.int().min(200).max(599),
    headers: z.array(z.tuple([z.string(), z.string()])),
  }),
  z.object({ type: z.literal('body'), more: z.boolean() }),
  z.object({
    type: z.literal('accept'),
    subprotocol: z.string().nullable(),
    headers: z.array(z.tuple([z.string(), z.string()])),
  }),
  z.object({ type: z.literal('close') }),
]);

/**
 * Answers a request by the agent's application; undefined if it leaves the request, untouched, to the server's own
 * routes.
 *
 * @throws WorkerGone if the worker has ended, for which clients get a 503.
 */
export async function callApp(
  { host, log }: { host: GraphHost; log: Logger },
  asked: AppRequest,
): Promise<Response | undefined> {
  const { request, upgrade } = asked;
  const connection = await host.connection();
  const messages = upgrade && new SocketMessages();
  const body = new RequestBody(upgrade ? null : bodyOf(request));
  const own = new OwnResponse();
  const leave = (): void => {
    body.leave();
    own.leave();
    messages?.leave();
  };
  const calls = new ClientRequests(host.fetch, { isRun: false });
  const answer = async (about: Asked): Promise<Answer> => {
    const { op, args, attachments } = about;
    if (op.startsWith('client.')) return calls.answer(about);
    if (op === 'http.read') return messages ? messages.read() : body.read();
    if (op === 'http.next_read') return own.read();
    if (op !== 'http.next' || !asked.next) throw new Error(`A request of the application can't ask for ${op}.`);
    const { response, isUnknown } = await asked.next({ ...changed.parse(args), body: attachments[0] });
    return own.begin(response, isUnknown);
  };
  const events = connection.stream('http', argsOf(asked), { answer });
  const { method, url, signal } = request;
  const over = (): void => {
    signal.removeEventListener('abort', leave);
    calls.end();
    leave();
  };
  /** Nothing more is read of it: it must not wait for that. */
  const abandon = async (): Promise<void> => {
    await events.return({}).catch(() => undefined);
  };
  const rest: RestOfResponse = {
    events,
    leave,
    fail(error) {
      over();
      void abandon();
      if (error instanceof WorkerGone) return;
      log.error(`${method} ${new URL(url).pathname} of \`http.app\` failed: ${stackOf(error)}`);
    },
    async drain() {
      try {
        while ((await events.next()).done !== true);
        over();
      } catch (error) {
        rest.fail(error);
      }
    },
  };
  signal.addEventListener('abort', leave, { once: true });
  try {
    const { done, value } = await events.next();
    if (done) throw new Error('The application of `http.app` ended without a response.');
    const first = part.parse(value.value);
    if (first.type === 'accept' && upgrade && messages) {
      messages.accept(upgrade, first, rest);
      return new Response(null);
    }
    if (first.type !== 'start') {
      void rest.drain();
      return first.type === 'pass' ? undefined : refusedSocket();
    }
    const response = { status: first.status, headers: first.headers };
    const hasBody = method !== 'HEAD' && ![204, 205, 304].includes(first.status);
    if (hasBody) return new Response(streamOf(rest), response);
    void rest.drain();
    return new Response(null, response);
  } catch (error) {
    over();
    void abandon();
    throw error;
  }
}

function argsOf({ request, user, upgrade, isUnknown }: AppRequest): object {
  const { pathname, search, protocol, host } = new URL(request.url);
  const headers = [...request.headers];
  if (!request.headers.has('host')) headers.push(['host', host]);
  const forwarded = request.headers.get('x-forwarded-proto')?.split(',')[0]?.trim();
  const scheme = forwarded === 'https' || forwarded === 'http' ? forwarded : protocol.slice(0, -1);
  return {
    type: upgrade ? 'websocket' : 'http',
    scheme: upgrade ? scheme.replace('http', 'ws') : scheme,
    method: request.method,
    path: pathname,
    query: search.slice(1),
    headers,
    has_body: !upgrade && bodyOf(request) !== null,
    most_bytes: maxBodyBytes,
    unknown: isUnknown,
    user,
  };
}

/** Requests of these methods have none, which is known without making the stream. */
const bodyOf = (request: Request): ReadableStream<Uint8Array> | null =>
  ['GET', 'HEAD'].includes(request.method) ? null : request.body;

/** The body of a response, asked for as fast as the client takes it. */
function streamOf({ events, drain, leave, fail }: RestOfResponse): ReadableStream<Uint8Array> {
  let isLeft = false;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          for (;;) {
            const { done, value } = await events.next();
            if (isLeft) return;
            const event = done ? undefined : part.parse(value.value);
            if (event?.type !== 'body') throw new Error('The application of `http.app` ended in its response.');
            const [piece] = value.attachments ?? [];
            if (piece) controller.enqueue(piece);
            if (!event.more) {
              controller.close();
              void drain();
            }
            if (piece || !event.more) return;
          }
        } catch (error) {
          fail(error);
          throw error;
        }
      },
      cancel() {
        isLeft = true;
        leave();
        void drain();
      },
    },
    { highWaterMark: 0 },
  );
}
