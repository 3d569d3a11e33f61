import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';

/** An agent server as its clients know it. */
export interface ClientServer {
  url: string;
  /** The key to send; null where the server needs none. */
  apiKey: string | null;
}

/** What a client does against a server: a row of the table in docs/clients.md. */
export interface ClientCase {
  /** The name of its package on npm, or of the application. */
  client: string;
  version: string;
  feature: string;
  /** Uses the feature as its users do; returns what came of it. It is `works` unless there is more to say. */
  run: (server: ClientServer) => Promise<string>;
  /** How long (ms) a server may take: four minutes if absent, for a busy machine is slow. */
  maxWaitMs?: number;
}

/** What a case returns if the feature did all that it is for. */
export const works = 'works';

/** Runs a case; an error becomes the result `fails: ` with its message, in one line that is the same each time. */
export async function resultOf(given: ClientCase, server: ClientServer): Promise<string> {
  const result = await triedOnce(given, server);
  // A busy machine closes connections that were idle, just when a request is sent. That says nothing of the feature.
  return result.includes('fetch failed') ? triedOnce(given, server) : result;
}

async function triedOnce({ run, maxWaitMs = 240_000 }: ClientCase, server: ClientServer): Promise<string> {
  const decided = new AbortController();
  const late = sleep(maxWaitMs, 'fails: it does not end', { signal: decided.signal }).catch(() => '');
  try {
    return await Promise.race([run(server), late]);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    // The status says enough; bodies are long.
    const reason = /^HTTP \d+/.exec(message)?.[0] ?? message.replaceAll(server.url, '').replaceAll(uuid, 'ID');
    return `fails: ${reason.replaceAll(unfitting, ' ').slice(0, 160).trim()}`;
  } finally {
    decided.abort();
  }
}

const uuid = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** What would break a line or a cell of a table. */
const unfitting = /[\s|`]+/g;

/** Throws unless both are the same; the message has them in short. */
export function expectSame(seen: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(seen, expected)) throw new Error(`${textOf(seen)} instead of ${textOf(expected)}`);
}

const textOf = (value: unknown): string =>
  JSON.stringify(value instanceof Set ? [...value].map(String).toSorted() : value);

/** Waits until a call returns what is expected; throws if it does not in time. */
export async function waitUntilSame(
  call: () => Promise<unknown>,
  expected: unknown,
  maxWaitMs = 200_000,
): Promise<void> {
  const end = performance.now() + maxWaitMs;
  let seen = await call();
  while (!isDeepStrictEqual(seen, expected) && performance.now() < end) {
    await sleep(50);
    seen = await call();
  }
  expectSame(seen, expected);
}

/** The status of the error with which a call was refused. */
export const statusOfError = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => 'no error',
    (error: unknown) => Reflect.get(Object(error), 'status'),
  );

/** A field of a value, however deep; undefined if absent. */
export const fieldOf = (of: unknown, ...path: (string | number)[]): unknown =>
  path.reduce<unknown>((at, key) => (typeof at === 'object' && at !== null ? Reflect.get(at, key) : undefined), of);
