import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { OpenAiEmbeddings } from '../../../../src/services/agent/store/openai-embeddings.ts';
import { systemClock, type Clock } from '../../../../src/kit/clock.ts';
import { loggerTo } from '../../../logger.ts';
import { startEmbeddingService, type EmbeddingReply, type EmbeddingService } from './embedding-service.ts';

const key = 'sk-the-key-of-the-test';
const waits: number[] = [];
const lines: string[] = [];
/** Timeouts as they are; waits before a retry are noted and take no time. */
const clock: Clock = {
  ...systemClock,
  sleep: async (ms, signal) => {
    if (ms >= 20_000) return systemClock.sleep(ms, signal);
    waits.push(ms);
  },
};

let service: EmbeddingService;
beforeAll(async () => {
  service = await startEmbeddingService();
});
afterAll(() => service.close());
beforeEach(() => {
  for (const list of [service.requests, service.replies, waits, lines]) list.length = 0;
});

const embeddings = (more: { address?: string; key?: string | undefined } = {}) =>
  new OpenAiEmbeddings({
    address: service.url,
    key,
    model: 'small',
    clock,
    log: loggerTo((line) => lines.push(line)),
    ...more,
  });
const { signal } = new AbortController();

describe('a model with OpenAI’s interface', () => {
  test('embeds texts in batches of a hundred, in their order', async () => {
    const texts = Array.from({ length: 250 }, (_, n) => 'x'.repeat(n + 1));
    const found = await embeddings().embedDocuments(texts, signal);
    expect(found).toEqual(texts.map((text) => [text.length, 1]));
    expect(service.requests.map(({ body }) => body.input.length)).toEqual([100, 100, 50]);
    expect(service.requests[0]).toMatchObject({
      path: '/v1/embeddings',
      authorization: `Bearer ${key}`,
      body: { model: 'small' },
    });
  });

  test('embeds a query, without a key where there is none', async () => {
    expect(await embeddings({ address: `${service.url}/`, key: undefined }).embedQuery('tea', signal)).toEqual([3, 1]);
    expect(service.requests).toMatchObject([{ path: '/v1/embeddings', authorization: undefined }]);
  });

  test.each<[string, EmbeddingReply, number]>([
    ['too many requests', { status: 429 }, 500],
    ['too many requests, after the requested seconds', { status: 429, headers: { 'retry-after': '3' } }, 3_000],
    ['too many requests, never waiting for minutes', { status: 429, headers: { 'retry-after': '600' } }, 10_000],
    ['an error of the service', { status: 503 }, 500],
    ['a lost connection', 'nothing', 500],
  ])('is called again after %s', async (_, reply, waitMs) => {
    service.replies.push(reply);
    expect(await embeddings().embedQuery('tea', signal)).toEqual([3, 1]);
    expect(waits).toEqual([waitMs]);
  });

  test.each<[string, EmbeddingReply[], number, string]>([
    [
      'too many requests each time',
      [{ status: 500 }, 'nothing', { status: 429, body: key }],
      503,
      'The embedding service answered 429, at the last of 3 tries. Retry in a moment, or check OPENAI_BASE_URL.',
    ],
    [
      'a wrong key',
      [{ status: 401, body: `{"error":{"message":"Incorrect API key provided: ${key}."}}` }],
      502,
      'The embedding service refused the request (HTTP 401). Check OPENAI_API_KEY.',
    ],
    [
      'an unknown model',
      [{ status: 404, body: `{"error":{"message":"no model for ${key}"}}` }],
      502,
      "The embedding service refused the request (HTTP 404). Check the model of `store.index.embed` and the length of the texts; the log has the service's reason.",
    ],
    ['a redirect', [{ status: 307, headers: { location: 'http://127.0.0.1:1/' } }], 502, 'HTTP 307'],
    ['a page', [{ status: 200, body: '<html>' }], 502, 'has not one embedding for each text. Check OPENAI_BASE_URL'],
    ['no embedding', [{ status: 200, body: '{"data":[]}' }], 502, 'has not one embedding for each text'],
    ['a far index', [{ status: 200, body: '{"data":[{"index":7,"embedding":[1]}]}' }], 502, 'has not one embedding'],
    ['an embedding of texts', [{ status: 200, body: '{"data":[{"embedding":["a"]}]}' }], 502, 'has not one embedding'],
  ])('fails after %s, without the key', async (_, replies, status, message) => {
    service.replies.push(...replies);
    const failure: unknown = await embeddings()
      .embedQuery('tea', signal)
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ name: 'EmbeddingFailed', status, message: expect.stringContaining(message) });
    expect(service.requests).toHaveLength(replies.length);
    expect(JSON.stringify([String(failure), lines])).not.toContain(key);
  });

  test("logs the service's reason, without the key", async () => {
    service.replies.push({ status: 400, body: `{"error":{"message":"the text is too long, ${key}"}}` });
    await expect(embeddings().embedQuery('tea', signal)).rejects.toThrow('HTTP 400');
    expect(lines).toEqual([expect.stringMatching(/It said: .*the text is too long, \*\*\*/)]);
  });

  test('refuses a response that is larger than its bound', async () => {
    service.replies.push({ status: 200, body: `{"data":[],"padding":"${'x'.repeat(64 * 1024 ** 2)}"}` });
    await expect(embeddings().embedQuery('x', signal)).rejects.toThrow('is larger than 64 MiB');
    expect(service.requests).toHaveLength(1);
  });

  test('fails if it can’t be reached, with the reason', async () => {
    const gone = await startEmbeddingService();
    await gone.close();
    await expect(embeddings({ address: gone.url }).embedQuery('tea', signal)).rejects.toMatchObject({
      status: 503,
      message: expect.stringContaining("can't be reached (ECONNREFUSED), at the last of 3 tries"),
    });
  });

  test('ends when the caller’s time is over', async () => {
    const over = AbortSignal.abort(new Error('too late'));
    await expect(embeddings().embedQuery('tea', over)).rejects.toThrow('too late');
    expect(service.requests).toEqual([]);
  });
});
