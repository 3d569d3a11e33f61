import { writeFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { readConfiguration } from '../../../../src/services/agent/configuration.ts';
import { StartupError } from '../../../../src/services/agent/startup-error.ts';
import { loadEmbeddings } from '../../../../src/services/agent/store/load-embeddings.ts';
import { systemClock } from '../../../../src/kit/clock.ts';
import { silentLogger } from '../../../../src/kit/logger.ts';
import { temporaryAgent, type TemporaryAgent } from '../temporary-agent.ts';

let agent: TemporaryAgent;
beforeAll(() => {
  agent = temporaryAgent({
    'embed.ts': `
      export const embed = async (texts: string[]) => texts.map((text) => [text.length]);
      class Model {
        length = 1;
        embedDocuments(texts: string[]) { return Promise.resolve(texts.map(() => [this.length])); }
        embedQuery(text: string) { return Promise.resolve([text.length]); }
      }
      export const model = new Model();
      export const half = { embedDocuments: () => [] };
      export default embed;`,
    'throws.ts': `throw new Error('no model here');`,
  });
});
afterAll(() => agent.remove());
afterEach(() => vi.unstubAllEnvs());

/** The embeddings of an agent with this index, or the lines of the error. */
async function load(index: object) {
  writeFileSync(agent.configPath, JSON.stringify({ graphs: { one: './one.ts:one' }, store: { index } }));
  const parts = { clock: systemClock, log: silentLogger };
  try {
    return await loadEmbeddings(readConfiguration(agent.configPath, silentLogger), agent.configPath, parts);
  } catch (error) {
    if (error instanceof StartupError) return error.lines.join('\n');
    throw error;
  }
}

const { signal } = new AbortController();

describe('store.index.embed', () => {
  test.each([
    ['a function', './embed.ts:embed', [[1], [2]]],
    ['the default export', './embed.ts', [[1], [2]]],
    ['an object, with its `this`', './embed.ts:model', [[1], [1]]],
  ])('may name %s', async (_, embed, embedded) => {
    const embeddings = await load({ dims: 1, embed });
    if (typeof embeddings !== 'object') throw new Error(embeddings);
    expect(await embeddings.embedDocuments(['a', 'bb'], signal)).toEqual(embedded);
    expect(await embeddings.embedQuery('ccc', signal)).toEqual([3]);
  });

  test.each<[string, object, Record<string, string>]>([
    ['with a key', { embed: 'openai:small' }, { OPENAI_API_KEY: 'sk-1\n' }],
    ['at an address without a key', { embed: 'openai:org/small:1' }, { OPENAI_BASE_URL: 'http://127.0.0.1:9/v1' }],
  ])('may name a model %s', async (_, index, environment) => {
    stub(environment);
    expect(await load({ dims: 1, ...index })).toBeTypeOf('object');
  });

  test.each<[string, object, RegExp, Record<string, string>?]>([
    ['a missing file', { embed: './no.ts:embed' }, /`store.index.embed` names a file that is not there: .\/no.ts/],
    ['a missing export', { embed: './embed.ts:embedd' }, /exports no "embedd"; .*; did you mean "embed"\?/],
    ['an export that can’t embed', { embed: './embed.ts:half' }, /can't embed: export a function that takes a list/],
    ['code that throws', { embed: './throws.ts:embed' }, /`store.index.embed` can't be loaded: .*no model here/],
    ['an unknown provider', { embed: 'cohere:small' }, /must name an export of the agent's, such as .*`openai:MODEL`/],
    ['no model', { embed: 'openai:' }, /must name an export of the agent's/],
    ['Python', { embed: './embed.py:embed' }, /`store.index.embed` is written in Python/],
    ['no dimensions', { embed: './embed.ts', dims: 0 }, /`store.index.dims` must be at least 1/],
    ['too many dimensions', { embed: './embed.ts', dims: 16_001 }, /`store.index.dims` must be at most 16000/],
    ['no path', { embed: './embed.ts', fields: ['a..b'] }, /`store.index.fields\[0\]` must be a path in the value/],
    ['no key', { embed: 'openai:small' }, /needs a key. Set the secret OPENAI_API_KEY/, {}],
    ['an invalid key', { embed: 'openai:small' }, /can't use OPENAI_API_KEY/, { OPENAI_API_KEY: 'sk 1 secret' }],
    ['an address with a user', { embed: 'openai:small' }, /can't use/, { OPENAI_BASE_URL: 'https://a:secret@b.test' }],
    ['an address that is none', { embed: 'openai:small' }, /can't use OPENAI_BASE_URL/, { OPENAI_BASE_URL: 'secret' }],
  ])('stops the start for %s, with the line', async (_, index, message, environment = {}) => {
    stub(environment);
    const lines = await load({ dims: 1, ...index });
    expect(lines).toMatch(/^langgraph\.json:1:\d+: /);
    expect(lines).toMatch(message);
    expect(lines).not.toContain('secret@');
    expect(lines).not.toMatch(/1 secret/);
  });
});

function stub(environment: Record<string, string>): void {
  for (const name of ['OPENAI_API_KEY', 'OPENAI_BASE_URL']) vi.stubEnv(name, environment[name]);
}
