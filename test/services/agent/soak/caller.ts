import type { Chance } from './chance.ts';
import type { Pair } from './processes.ts';

/** The outcome of a request. */
export type Said =
  | { kind: 'answered'; status: number; body: unknown }
  /** The process exited before responding: the request may or may not have been executed. */
  | { kind: 'unknown' };

/** How much of a response arrived: its head, and the body if complete. */
export interface Reply {
  status: number;
  /** The run's location, from the response headers. */
  place: string | undefined;
  /** Undefined if the connection broke. */
  text: string | undefined;
}

/** How to read a response. */
export interface CallOptions {
  /** The expected statuses. */
  right?: readonly number[];
  headers?: Record<string, string>;
  /** Disconnect once this was received. */
  leave?: RegExp;
  /** Disconnect after this time (ms). */
  leaveAfterMs?: number;
}

/** One connection per request, so that none remains open at the end. */
const HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  connection: 'close',
};

/** Response timeout (ms): runs take seconds, and their process may be killed. */
const ANSWER_WITHIN_MS = 90_000;

/** A client that picks a process for each request. */
export class Caller {
  readonly #pair: Pair;
  readonly #chance: Chance;
  /** Responses that no client should have received. */
  readonly faults: string[] = [];
  /** Number of responses, by method and group. */
  readonly answers = new Map<string, number>();

  constructor(pair: Pair, chance: Chance) {
    this.#pair = pair;
    this.#chance = chance;
  }

  /**
   * Sends a request and reads the whole response.
   *
   * @param right the expected statuses.
   */
  async ask(method: string, path: string, body?: unknown, right: readonly number[] = [200, 204]): Promise<Said> {
    const { status, text } = await this.report(method, path, body, { right });
    if (text === undefined || status === 503) return { kind: 'unknown' };
    return { kind: 'answered', status, body: text.trim() === '' ? undefined : JSON.parse(text) };
  }

  /** Sends a request and returns how much of the response arrived; status 0 without headers. */
  async report(
    method: string,
    path: string,
    body: unknown,
    { right = [200], headers = {}, leave, leaveAfterMs }: CallOptions = {},
  ): Promise<Reply> {
    const url = await this.#anyProcess();
    const hung = AbortSignal.timeout(ANSWER_WITHIN_MS);
    const left = new AbortController();
    const retryPolicy = leaveAfterMs === undefined ? undefined : setTimeout(() => left.abort(), leaveAfterMs);
    let reply: Reply = { status: 0, place: undefined, text: undefined };
    try {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: { ...HEADERS, ...headers },
        signal: AbortSignal.any([hung, left.signal]),
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      reply = { ...reply, status: response.status, place: response.headers.get('content-location') ?? undefined };
      let text = '';
      const decoder = new TextDecoder();
      for await (const chunk of response.body ?? []) {
        text += decoder.decode(chunk, { stream: true });
        if (leave?.test(text)) return reply;
      }
      reply = { ...reply, text };
      if (![...right, 503].includes(reply.status))
        this.faults.push(`${method} ${path}: ${reply.status} ${text.slice(0, 500)}`);
      const group = `${method} ${path.split('?')[0]?.replaceAll(/[0-9a-f-]{36}/g, '*')} ${reply.status}`;
      this.answers.set(group, (this.answers.get(group) ?? 0) + 1);
    } catch (error) {
      if (hung.aborted) this.faults.push(`${method} ${path}: no answer within ${ANSWER_WITHIN_MS / 1000} s`);
      else if (!(error instanceof TypeError || left.signal.aborted)) throw error;
    } finally {
      clearTimeout(retryPolicy);
      left.abort();
    }
    return reply;
  }

  async #anyProcess(): Promise<string> {
    for (;;) {
      const url = this.#chance.any(this.#pair.urls());
      if (url !== undefined) return url;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

/** The fields of a JSON object; empty for anything else. */
export const fieldsOf = (body: unknown): Record<string, unknown> =>
  typeof body === 'object' && body !== null ? { ...body } : {};

/** The items of a JSON array; empty for anything else. */
export const itemsOf = (body: unknown): unknown[] => (Array.isArray(body) ? body : []);
