import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseEvents } from '../../../../src/kit/sse/parse-events.ts';
import type { Contender } from './contender.ts';

/** A row of the table: a request to both servers; the cell summarizes the result. */
export interface Row {
  contract: string;
  ask: (server: Asking) => Promise<string>;
}

export const row = (contract: string, ask: Row['ask']): Row => ({ contract, ask });

/** An answer, whatever it is. */
export interface Reported {
  status: number;
  /** What JSON says; undefined where the body is none. */
  body: unknown;
  header: (name: string) => string | undefined;
}

/** An event of a stream; `data` is undefined where it is no JSON. */
export interface Event {
  id?: string | undefined;
  event: string;
  data: unknown;
}

/** Calls a server by its public description. */
export class Asking {
  readonly server: Contender;

  readonly #headers: Record<string, string>;

  /** @param headers what it shows with each request. */
  constructor(server: Contender, headers: Record<string, string> = {}) {
    this.server = server;
    this.#headers = headers;
  }

  /** The same, as a user whom the access rules may know. */
  as(user: string): Asking {
    return new Asking(this.server, { 'x-user': user });
  }

  async ask(method: string, path: string, body?: unknown, maxWaitMs = 15_000): Promise<Reported> {
    const answer = await fetch(`${this.server.url}${path}`, {
      method,
      headers: { ...this.#headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(maxWaitMs),
    });
    const { status, headers } = answer;
    return { status, body: json(await answer.text()), header: (name) => headers.get(name) ?? undefined };
  }

  /** The answer's status alone, as it stands in a cell. */
  async status(method: string, path: string, body?: unknown): Promise<string> {
    return String((await this.ask(method, path, body)).status);
  }

  async thread(body: object = {}): Promise<string> {
    return text((await this.ask('POST', '/threads', body)).body, 'thread_id');
  }

  async assistant(body: object = {}): Promise<string> {
    return text((await this.ask('POST', '/assistants', { graph_id: 'greeter', ...body })).body, 'assistant_id');
  }

  /** Begins a run in the background; its id. */
  async run(threadId: string, body: object): Promise<string> {
    return text((await this.ask('POST', `/threads/${threadId}/runs`, body)).body, 'run_id');
  }

  /** The outcome of a run, on a thread or stateless. */
  async wait(body: object, threadId?: string): Promise<Reported> {
    return this.ask('POST', threadId === undefined ? '/runs/wait' : `/threads/${threadId}/runs/wait`, body);
  }

  /** Looks at a run until it has that status, for some seconds; the status that was seen last. */
  async until(threadId: string, runId: string, status: string): Promise<string> {
    let seen = '';
    for (let left = 100; left > 0 && seen !== status; left--) {
      seen = text((await this.ask('GET', `/threads/${threadId}/runs/${runId}`)).body, 'status');
      if (seen === '') break;
      if (seen !== status) await sleep(100);
    }
    return seen;
  }

  /** The events of a stream, those of some time at most; `enough` ends the listening earlier. */
  async events(
    path: string,
    init: RequestInit,
    enough: (event: Event) => boolean = () => false,
    forMs = 30_000,
  ): Promise<Event[]> {
    const leave = new AbortController();
    const late = AbortSignal.timeout(forMs);
    const heard: Event[] = [];
    try {
      const signal = AbortSignal.any([leave.signal, late]);
      const answer = await fetch(`${this.server.url}${path}`, { ...init, signal });
      if (!answer.ok || !answer.body) return heard;
      for await (const { event, data, id } of parseEvents(answer.body, { maxEventBytes: 1_000_000 })) {
        const one = { id, event, data: json(data) };
        heard.push(one);
        if (enough(one)) break;
      }
    } catch (error) {
      if (!late.aborted) throw error;
    }
    leave.abort();
    return heard;
  }

  /** The bodies of the webhooks for a path, once there are enough or the time is over. */
  async hooks(path: string, count = 1, forMs = 6_000): Promise<{ body: unknown; headers: IncomingHttpHeaders }[]> {
    const end = performance.now() + forMs;
    while (this.server.receiver.to(path).length < count && performance.now() < end) await sleep(50);
    return this.server.receiver.to(path).map(({ body, headers }) => ({ body: json(body), headers }));
  }

  /** An unused path of the receiver. */
  hook(): { path: string; url: string } {
    const path = `/${randomUUID()}`;
    return { path, url: this.server.receiver.at(path) };
  }
}

export const post = (body: object): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

export const unknownId = '00000000-0000-4000-8000-000000000000';

/** A field of a response; undefined if absent. */
export const field = (of: unknown, ...path: (string | number)[]): unknown =>
  path.reduce<unknown>((at, key) => (typeof at === 'object' && at !== null ? Reflect.get(at, key) : undefined), of);

/** A field as text; empty where it is not there. */
export const text = (of: unknown, ...path: (string | number)[]): string => {
  const found = field(of, ...path);
  return typeof found === 'string' ? found : '';
};

/** A value as it stands in a cell. */
export const code = (value: unknown): string => (value === undefined ? 'is not there' : `\`${JSON.stringify(value)}\``);

export const count = (of: unknown): number => (Array.isArray(of) ? of.length : -1);

function json(from: string): unknown {
  try {
    return JSON.parse(from);
  } catch {
    // Not every server responds with JSON everywhere; the table shows it.
    return undefined;
  }
}
