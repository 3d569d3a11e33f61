import { describe, expect, test } from 'vitest';
import type { Clock } from '../../../../src/kit/clock.ts';
import type { Embeddings } from '../../../../src/services/agent/store/embeddings.ts';
import { SemanticIndex } from '../../../../src/services/agent/store/semantic-index.ts';
import type { StoreIndexConfig } from '../../../../src/agent-folder/graph-config/retention.ts';
import { loggerTo } from '../../../logger.ts';

const lines: string[] = [];
const still: Clock = {
  now: () => 0,
  sleep: (_, signal) => new Promise((_, reject) => signal?.addEventListener('abort', reject)),
};
const passing: Clock = { now: () => 0, sleep: () => Promise.resolve() };

const indexBy = (embeddings: Partial<Embeddings>, config: Partial<StoreIndexConfig> = {}, clock = still) =>
  new SemanticIndex({
    embeddings: { embedDocuments: () => never, embedQuery: () => never, ...embeddings },
    config: { dims: 2, embed: './embed.ts:embed', ...config },
    clock,
    log: loggerTo((line) => lines.push(line)),
  });
const never = new Promise<never>(() => undefined);

describe('the vectors of an item', () => {
  test('are those of the configured fields, or of the paths of the put', async () => {
    const embedded: string[][] = [];
    const embedDocuments = async (texts: string[]) => {
      embedded.push(texts);
      return texts.map(() => [3, 4]);
    };
    const value = { a: 'x', b: ['y', 'z'], at: new Date(0) };
    const index = indexBy({ embedDocuments }, { fields: ['a'] });
    expect(await index.vectorsOf(value, undefined)).toEqual([[Math.fround(0.6), Math.fround(0.8)]]);
    expect(await index.vectorsOf(value, null)).toHaveLength(1);
    expect(await index.vectorsOf(value, ['b[*]', 'at'])).toHaveLength(3);
    await indexBy({ embedDocuments }).vectorsOf({ a: 1 }, undefined);
    expect(embedded).toEqual([['x'], ['x'], ['y', 'z', '1970-01-01T00:00:00.000Z'], ['{"a":1}']]);
  });

  test.each<[string, false | string[]]>([
    ['index: false', false],
    ['no path', []],
    ['a path without text', ['none']],
  ])('are none for %s, without a call', async (_, paths) => {
    expect(await indexBy({}).vectorsOf({ a: 1 }, paths)).toEqual([]);
  });

  test('are refused for more than a thousand texts', async () => {
    const many = { a: Array.from({ length: 1_001 }, (_, n) => n) };
    await expect(indexBy({}).vectorsOf(many, ['a[*]'])).rejects.toMatchObject({
      status: 422,
      detail: [{ loc: ['body', 'value'], msg: expect.stringContaining('has more than 1000 texts') }],
    });
  });

  test('may be typed arrays, also of length 0 or of tiny numbers', async () => {
    const index = indexBy({
      embedDocuments: async () => [new Float32Array([0, 0])],
      embedQuery: async () => [1e-300, 0],
    });
    expect(await index.vectorsOf({ a: 1 }, undefined)).toEqual([[0, 0]]);
    expect(await index.vectorOf('x')).toEqual([1, 0]);
  });

  test.each<[string, unknown, RegExp]>([
    ['an embedding of another length', [[1, 2, 3]], /an embedding of 3 numbers, and `store.index.dims` is 2\. Set/],
    ['too few embeddings', [], /did not return exactly one embedding for each of 1 texts\. Check/],
    ['no list', 'text', /did not return exactly one embedding/],
    ['an embedding that is no list', [7], /not a list of finite numbers\. Check/],
    ['a number that is none', [[1, Number.NaN]], /not a list of finite numbers/],
  ])('fail for %s', async (_, result, message) => {
    await expect(indexBy({ embedDocuments: async () => result }).vectorsOf({ a: 1 }, undefined)).rejects.toMatchObject({
      name: 'EmbeddingFailed',
      status: 502,
      message: expect.stringMatching(message),
    });
  });

  test("show the error of the agent's code only in the log", async () => {
    const embedQuery = async () => Promise.reject(new Error('the key sk-1 is wrong'));
    await expect(indexBy({ embedQuery }).vectorOf('x')).rejects.toMatchObject({
      status: 502,
      message: expect.not.stringContaining('sk-1'),
    });
    expect(lines.at(-1)).toContain('`store.index.embed` threw: Error: the key sk-1 is wrong');
  });

  test('fail when they take too long', async () => {
    await expect(indexBy({}, {}, passing).vectorOf('x')).rejects.toMatchObject({
      status: 503,
      message: 'The text could not be embedded within 60 s. Retry in a moment.',
    });
  });
});
