import * as z from 'zod';
import { backoffMs, withTimeout, type Clock } from '../../../kit/clock.ts';
import { maskOf, maskStart } from '../../../contract/masking/mask.ts';
import { codeOf } from '../../../kit/errors.ts';
import type { Logger } from '../../../kit/logger.ts';
import { readBounded } from '../../../kit/read-bounded.ts';
import { toAttemptOutcome } from '../webhooks/outcome.ts';
import { EmbeddingFailed, type Embeddings } from './embeddings.ts';

interface OpenAiOptions {
  /** The address above `/embeddings`; the public one by default. */
  address: string | undefined;
  /** A secret; absent for an address that needs none. */
  key: string | undefined;
  model: string;
  clock: Clock;
  log: Logger;
}

const publicAddress = 'https://api.openai.com/v1';
/** The number of texts in a request. */
const atOnce = 100;
const maxTries = 3;
const answerWithinMs = 20_000;
const firstWaitMs = 500;
/** The longest wait (ms) before a try, also where the service requests a longer one. */
const maxWaitMs = 10_000;
/** How much (characters) of an error of the service is logged. */
const maxLogged = 500;

/** The largest reply (bytes): a hundred embeddings of 4,096 numbers are a tenth of it. */
const maxReplyBytes = 64 * 1024 * 1024;
/** Of an error that is larger, nothing is logged. */
const maxErrorBytes = 64 * 1024;

const reply = z.looseObject({
  data: z.array(z.looseObject({ index: z.int().optional(), embedding: z.array(z.number()) })),
});

type Tried =
  | { kind: 'embedded'; embeddings: number[][] }
  | { kind: 'failed'; why: string; afterMs?: number | undefined }
  | { kind: 'refused'; message: string };

/** A model at an address with OpenAI's interface. Retries what may succeed later; no error contains the key. */
export class OpenAiEmbeddings implements Embeddings {
  readonly #options: OpenAiOptions;
  readonly #url: string;

  constructor(options: OpenAiOptions) {
    this.#options = options;
    this.#url = `${(options.address ?? publicAddress).replace(/\/$/, '')}/embeddings`;
  }

  async embedDocuments(texts: string[], signal: AbortSignal): Promise<number[][]> {
    const embeddings: number[][] = [];
    for (let from = 0; from < texts.length; from += atOnce)
      embeddings.push(...(await this.#request(texts.slice(from, from + atOnce), signal)));
    return embeddings;
  }

  async embedQuery(text: string, signal: AbortSignal): Promise<number[] | undefined> {
    const [embedding] = await this.#request([text], signal);
    return embedding;
  }

  async #request(texts: readonly string[], signal: AbortSignal): Promise<number[][]> {
    for (let tries = 1; ; tries += 1) {
      const tried = await this.#try(texts, signal);
      if (tried.kind === 'embedded') return tried.embeddings;
      if (tried.kind === 'refused') throw new EmbeddingFailed(502, tried.message);
      if (tries === maxTries) {
        const advice = 'Retry in a moment, or check OPENAI_BASE_URL.';
        throw new EmbeddingFailed(503, `The embedding service ${tried.why}, at the last of ${tries} tries. ${advice}`);
      }
      const waitMs = Math.max(backoffMs(tries, firstWaitMs, maxWaitMs), tried.afterMs ?? 0);
      await this.#options.clock.sleep(Math.min(waitMs, maxWaitMs), signal);
    }
  }

  async #try(texts: readonly string[], signal: AbortSignal): Promise<Tried> {
    const { clock } = this.#options;
    try {
      return await withTimeout(clock, answerWithinMs, (inTime) => this.#send(texts, inTime), signal);
    } catch (error) {
      if (signal.aborted) throw error;
      if (error instanceof SyntaxError || error instanceof z.ZodError) return unreadable;
      const isLate = error instanceof Error && error.name === 'TimeoutError';
      const cause = error instanceof Error ? codeOf(error.cause) : '';
      return {
        kind: 'failed',
        why: isLate ? `did not answer within ${answerWithinMs / 1000} s` : `can't be reached${cause && ` (${cause})`}`,
      };
    }
  }

  async #send(texts: readonly string[], signal: AbortSignal): Promise<Tried> {
    const { key, model, clock } = this.#options;
    const response = await fetch(this.#url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(key === undefined ? {} : { authorization: `Bearer ${key}` }) },
      body: JSON.stringify({ model, input: texts }),
      redirect: 'manual',
      signal,
    });
    const outcome = toAttemptOutcome(response.status, response.headers.get('retry-after') ?? undefined, clock.now());
    if (outcome.kind === 'taken') {
      const json = await readText(response, maxReplyBytes);
      return json === undefined ? tooLarge : readReply(JSON.parse(json), texts.length);
    }
    const text = (await readText(response, maxErrorBytes)) ?? '';
    if (outcome.kind === 'failed') return outcome;
    return { kind: 'refused', message: this.#explain(response.status, text) };
  }

  /** The service's own words may repeat the texts, so only the log has them, and of a refused key not even that. */
  #explain(status: number, text: string): string {
    const { key = '', log } = this.#options;
    const refused = `The embedding service refused the request (HTTP ${status}).`;
    if (status === 401 || status === 403) return `${refused} Check OPENAI_API_KEY.`;
    log.warn(`${refused} It said: ${maskStart(maskOf(key === '' ? [] : [key]), text, maxLogged)}`);
    return `${refused} Check the model of \`store.index.embed\` and the length of the texts; the log has the service's reason.`;
  }
}

const unreadable: Tried = {
  kind: 'refused',
  message:
    "The embedding service's response has not one embedding for each text. Check OPENAI_BASE_URL and the model of `store.index.embed`.",
};

const tooLarge: Tried = {
  kind: 'refused',
  message: `The embedding service's response is larger than ${maxReplyBytes / 1024 ** 2} MiB. Check OPENAI_BASE_URL and the model of \`store.index.embed\`.`,
};

/** The text of a response, or undefined where it is larger than `maxBytes`; the rest of it is not received. */
const readText = async (response: Response, maxBytes: number): Promise<string | undefined> =>
  (await readBounded(response.body ?? [], maxBytes))?.toString('utf8');

function readReply(body: unknown, count: number): Tried {
  const { data } = reply.parse(body);
  const embeddings: number[][] = [];
  for (const [at, { index = at, embedding }] of data.entries()) embeddings[index] = embedding;
  const isWhole = data.length === count && Object.keys(embeddings).length === count && embeddings.length === count;
  return isWhole ? { kind: 'embedded', embeddings } : unreadable;
}
