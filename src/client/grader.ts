import * as z from 'zod';
import type { CallOptions } from '../contract/call-options.ts';
import type { Grader, Graders, Judgement } from '../contract/grader.ts';
import { fromJson } from '../kit/json-text.ts';
import { call, errorOf, type Operation } from './call.ts';
import { connection, type Connection, type ConnectionSettings } from './connection.ts';
import { type Reader, readJson } from './response-readers.ts';
import { unreadable } from './attempt-failure.ts';

/** Strict: any other response is an error. */
const judgement = z.strictObject({ reason: z.string(), holds: z.boolean() });

/** The reason comes first: a model that explains before it decides is right more often. */
const judgementFormat = {
  type: 'json_schema',
  json_schema: {
    name: 'judgement',
    strict: true,
    schema: {
      type: 'object',
      properties: { reason: { type: 'string' }, holds: { type: 'boolean' } },
      required: ['reason', 'holds'],
      additionalProperties: false,
    },
  },
} as const;

const completion = z.looseObject({
  choices: z.array(z.looseObject({ message: z.looseObject({ content: z.string() }) })).min(1),
});

const embeddings = z.looseObject({
  data: z.array(z.looseObject({ index: z.int(), embedding: z.array(z.number()).min(1) })).length(2),
});

export interface GraderSettings extends Pick<ConnectionSettings, 'userAgent' | 'clock' | 'random' | 'env'> {
  /** Looks up a key by its name; undefined if it is not set. */
  keyOf: (name: string) => string | undefined;
  /** Returns why no request may be sent to an address; undefined if it may. */
  refuse?: (baseUrl: string) => string | undefined;
}

/** A client for models at OpenAI-compatible addresses. Keys are sent to the address of their grader only. */
export function connectGraders({ keyOf, refuse, ...settings }: GraderSettings): Graders & { close(): Promise<void> } {
  const links = new Map<string, Connection>();

  function linkTo({ baseUrl, key }: Grader): Connection {
    const id = `${key ?? ''} ${baseUrl}`;
    const bearer = key === undefined ? undefined : keyOf(key)?.trim();
    const link =
      links.get(id) ?? connection(baseUrl, { ...settings, bearer, maxBodyBytes: 1024 * 1024, maxJsonValues: 50_000 });
    links.set(id, link);
    const missingKey =
      key !== undefined && !bearer ? 'the variable or secret that its `key` names is not set' : undefined;
    return { ...link, refusal: link.refusal ?? refuse?.(baseUrl) ?? missingKey };
  }

  function post<T>(
    grader: Grader,
    { name, path, body }: Pick<Operation, 'name' | 'path' | 'body'>,
    read: Reader<T>,
    options: CallOptions,
  ): Promise<T> {
    const link = linkTo(grader);
    const deadline = Math.min(options.deadline ?? Infinity, link.clock.now() + grader.timeoutMs);
    // A retry is safe: asking a model twice has no effect.
    return call(link, { name, method: 'POST', path, body, safe: true }, read, { ...options, deadline });
  }

  return {
    async judge(grader, { rules, data }, options): Promise<Judgement> {
      const messages = [
        { role: 'system', content: rules },
        { role: 'user', content: data },
      ];
      const body = { model: grader.model, messages, response_format: judgementFormat };
      return post(grader, { name: 'judge', path: '/chat/completions', body }, readJudgement, options);
    },
    async similarity(grader, texts, options) {
      const operation = { name: 'compare texts', path: '/embeddings', body: { model: grader.model, input: texts } };
      const { data } = await post(grader, operation, readJson(embeddings), options);
      const [one, other] = data.toSorted((first, second) => first.index - second.index);
      const similarity = one && other ? cosine(one.embedding, other.embedding) : undefined;
      if (similarity !== undefined) return similarity;
      const failure = unreadable(200, 'the answer has no two vectors that can be compared', false);
      throw errorOf(linkTo(grader), { ...operation, method: 'POST' }, failure);
    },
    close: async () => {
      await Promise.all([...links.values()].map((link) => link.close()));
    },
  };
}

const readJudgement: Reader<Judgement> = (reply) => {
  const read = readJson(completion)(reply);
  if (!read.ok) return read;
  const parsed = judgement.safeParse(fromJson(read.value.choices[0]?.message.content ?? ''));
  if (parsed.success) return { ok: true, value: parsed.data };
  return { ok: false, failure: unreadable(reply.status, 'the model did not reply in the requested form', false) };
};

/** The cosine similarity, from -1 to 1; undefined for vectors of different lengths or of length zero. */
function cosine(one: readonly number[], other: readonly number[]): number | undefined {
  if (one.length !== other.length) return undefined;
  const product = (first: readonly number[], second: readonly number[]): number =>
    first.reduce((sum, value, index) => sum + value * (second[index] ?? 0), 0);
  const similarity = product(one, other) / Math.sqrt(product(one, one) * product(other, other));
  return Number.isFinite(similarity) ? similarity : undefined;
}
