import { AsyncLocalStorage } from 'node:async_hooks';
import * as z from 'zod';
import { callInProcess } from '../javascript/agent-globals.ts';
import { applyCurrentCaller } from '../../auth/in-process-caller.ts';
import type { Fetch } from '../../protocols/internal-api.ts';
import type { Answer, Asked } from './connection.ts';

// What clients in the agent's code call of this server (docs/design/python-worker.md#calls-to-the-server).

const requestArgs = z.object({
  call: z.int(),
  method: z.string(),
  path: z.string().startsWith('/'),
  headers: z.array(z.tuple([z.string(), z.string()])),
});
const callArgs = z.object({ call: z.int() });

/** Headers about the message itself, and of every client. */
const ofMessage = /^(?:host|connection|user-agent|content-length|transfer-encoding)$/i;

/** How many calls of rules and of `http.app` are within one another, in the context of each. */
const depths = new AsyncLocalStorage<number>();
const maxDepth = 10;
const circular =
  'A call of this server has led to itself, ten times over. Where a rule of `auth` calls the server, give the call headers of its own, and answer for these without a call.';

interface OpenCall {
  abort: AbortController;
  body?: ReadableStreamDefaultReader<Uint8Array> | undefined;
}

/** The calls that a worker makes while it answers one request, with the rights of the caller in whose context this is made. */
export class ClientRequests {
  readonly #fetch: Fetch | undefined;
  readonly #isRun: boolean;
  readonly #inContext = AsyncLocalStorage.snapshot();
  readonly #open = new Map<number, OpenCall>();

  /** @param fetch absent in a build, which serves nothing. @param isRun whether a run calls, which may start others. */
  constructor(fetch: Fetch | undefined, { isRun }: { isRun: boolean }) {
    this.#fetch = fetch;
    this.#isRun = isRun;
  }

  answer(asked: Asked): Promise<Answer> {
    return this.#inContext(() => this.#answer(asked));
  }

  async #answer({ op, args, attachments }: Asked): Promise<Answer> {
    switch (op) {
      case 'client.request':
        return this.#request(requestArgs.parse(args), attachments[0]);
      case 'client.read':
        return this.#read(callArgs.parse(args).call);
      case 'client.close':
        this.#close(callArgs.parse(args).call);
        return {};
      default:
        throw new Error(`The worker asks for "${op}", which this server does not know.`);
    }
  }

  /** Ends all calls that are still open. */
  end(): void {
    for (const call of this.#open.keys()) this.#close(call);
  }

  /** @throws Error for a call of a rule or of `http.app` within ten others. */
  async #request({ call, method, path, headers }: z.infer<typeof requestArgs>, body: Uint8Array | undefined) {
    const depth = this.#isRun ? 0 : (depths.getStore() ?? 0) + 1;
    if (depth > maxDepth) throw new Error(circular);
    if (!this.#fetch) throw new Error('Nothing is served here. Call the server while it runs.');
    const open: OpenCall = { abort: new AbortController() };
    this.#open.set(call, open);
    try {
      const request = new Request(new URL(`http://own${path}`), {
        method,
        headers: headers.filter(([name]) => !ofMessage.test(name)),
        signal: open.abort.signal,
        // A copy: that of the frame may be shared.
        ...(body?.length ? { body: new Uint8Array(body) } : {}),
      });
      applyCurrentCaller(request);
      const fetch = this.#fetch;
      const response = await callInProcess((each) => depths.run(depth, () => fetch(each)), request);
      open.body = response.body?.getReader();
      return { value: { status: response.status, headers: [...response.headers] } };
    } catch (error) {
      this.#open.delete(call);
      throw error;
    }
  }

  /** The next part of a response, once there is one. */
  async #read(call: number): Promise<Answer> {
    const open = this.#open.get(call);
    if (!open) throw new Error('The call has ended.');
    const part = await open.body?.read();
    if (part?.value) return { value: { ended: false }, attachments: [part.value] };
    this.#open.delete(call);
    return { value: { ended: true } };
  }

  #close(call: number): void {
    this.#open.get(call)?.abort.abort(new Error('The client has left.'));
    this.#open.delete(call);
  }
}
