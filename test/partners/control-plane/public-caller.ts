import { expect } from 'vitest';
import { problemsOf, publicOperations } from './public-answers.ts';

/** The parts of a request. */
export interface Requested {
  /** The path parameters, in order. */
  ids?: readonly string[];
  query?: Readonly<Record<string, string | readonly string[]>>;
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
}

/** Sends requests as documented, and validates the responses. */
export interface PublicCaller {
  /**
   * @param operation method and path, as the document has them.
   * @param status the expected status; any when absent.
   * @returns the body as JSON; undefined where there is none.
   */
  ask(operation: string, requested?: Requested, status?: number): Promise<unknown>;
  /** Every response so far, as `METHOD /path status`. */
  answered: ReadonlySet<string>;
}

/** A caller that has only the service's address, a key, and the public document. */
export function publicCaller(baseUrl: string, apiKey: string): PublicCaller {
  const answered = new Set<string>();
  return {
    answered,
    async ask(name, { ids = [], query = {}, body, headers = {} } = {}, wanted) {
      const operation = publicOperations.find(({ method, path }) => `${method} ${path}` === name);
      if (!operation) throw new Error(`the document has no ${name}`);
      const rest = [...ids];
      const url = new URL(`${baseUrl}${operation.path.replaceAll(/\{\w+\}/g, () => rest.shift() ?? '')}`);
      for (const [key, value] of Object.entries(query))
        for (const each of [value].flat()) url.searchParams.append(key, each);
      const answer = await fetch(url, {
        method: operation.method,
        headers: {
          'x-api-key': apiKey,
          'x-field-names': 'public',
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await answer.text();
      const read: unknown = text === '' ? undefined : JSON.parse(text);
      const problems = problemsOf(operation, answer.status, read);
      if (text !== '' && !answer.headers.get('content-type')?.startsWith('application/json')) problems.push('no JSON');
      if (wanted !== undefined && answer.status !== wanted) problems.push(`${name} answered ${answer.status}`);
      expect(problems, `${JSON.stringify(body)} ${text}`).toEqual([]);
      answered.add(`${name} ${answer.status}`);
      return read;
    },
  };
}
