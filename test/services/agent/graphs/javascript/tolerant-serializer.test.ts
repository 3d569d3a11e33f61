import { AIMessage, HumanMessage } from '@langchain/core/messages';
import { MemorySaver } from '@langchain/langgraph-checkpoint';
import { describe, expect, test } from 'vitest';
import { tolerantSerializer } from '../../../../../src/services/agent/graphs/javascript/tolerant-serializer.ts';

const { serde } = new MemorySaver();
const tolerant = tolerantSerializer(serde);

const constructed = (...id: string[]) => ({ lc: 1, type: 'constructor', id, kwargs: {} });

const deep = (levels: number): object => JSON.parse('{"a":'.repeat(levels) + '1' + '}'.repeat(levels));

describe('a value that the engine can’t revive is read as data', () => {
  test.each([
    ['of an unknown package', constructed('acme', 'Widget')],
    ['of an unknown class', constructed('langchain_core', 'messages', 'NoMessage')],
    ['without a name', constructed()],
    ['of a class that refuses its arguments', constructed('langchain_core', 'prompts', 'prompt', 'PromptTemplate')],
    ['with a secret', { ...constructed('langchain_core', 'messages', 'HumanMessage'), kwargs: secret() }],
    ['nested in a list in an object', { parts: [1, { widget: constructed('acme', 'Widget') }] }],
    ['more deeply than it accepts', { ...constructed('langchain_core', 'messages', 'HumanMessage'), kwargs: deep(80) }],
  ])('%s', async (_, value) => {
    const [type, stored] = await serde.dumpsTyped(value);
    await expect(serde.loadsTyped(type, stored)).rejects.toBeInstanceOf(Error);
    expect(JSON.parse(JSON.stringify(await tolerant.loadsTyped(type, stored)))).toEqual(value);
  });
});

test('what the engine can revive beside it is revived', async () => {
  const value = { widget: constructed('acme', 'Widget'), messages: [new HumanMessage('hi'), new AIMessage('hello')] };
  const read = Object(await tolerant.loadsTyped(...(await tolerant.dumpsTyped(value))));
  expect(read.widget).toEqual(constructed('acme', 'Widget'));
  expect(read.messages).toEqual(value.messages);
});

test.each([
  ['in nested objects', (value: object) => ({ n: value })],
  ['in nested serialized objects', (value: object) => ({ ...constructed('acme', 'Widget'), kwargs: value })],
])('a part %s costs the engine a few readings of the value', async (_, wrap) => {
  let value: object = { text: 'x'.repeat(10_000), widget: constructed('acme', 'Widget') };
  for (let level = 0; level < 40; level += 1) value = wrap(value);
  const stored = new TextEncoder().encode(JSON.stringify(value));
  let read = 0;
  const counting = tolerantSerializer({
    dumpsTyped: (each) => serde.dumpsTyped(each),
    loadsTyped: (type, text) => {
      read += text.length;
      return serde.loadsTyped(type, text);
    },
  });
  expect(JSON.parse(JSON.stringify(await counting.loadsTyped('json', stored)))).toEqual(value);
  expect(read).toBeLessThan(8 * stored.length);
});

describe('a value with a part that JSON lacks', () => {
  test('is stored with its bigints as text', async () => {
    const value = { big: 2n ** 64n, in: new Map([['a', [1n]]]), messages: [new HumanMessage('hi')], left: true };
    expect(await tolerant.loadsTyped(...(await tolerant.dumpsTyped(value)))).toEqual({
      ...value,
      big: '18446744073709551616',
      in: new Map([['a', ['1']]]),
    });
    expect(() => JSON.stringify(1n)).toThrow('BigInt');
  });

  test('fails to be stored if it has no JSON', async () => {
    const toJSON = (): never => {
      throw new Error('The part is gone.');
    };
    const value = { part: { toJSON } };
    await expect(tolerant.dumpsTyped(value)).rejects.toThrow("The state can't be stored: The part is gone.");
  });

  test('is not confused with the text that the engine writes for it', async () => {
    const text = '[unable to serialize, circular reference is too complex to analyze]';
    expect(await tolerant.loadsTyped(...(await tolerant.dumpsTyped(text)))).toBe(text);
  });
});

test('text that is no JSON still fails', async () => {
  await expect(tolerant.loadsTyped('json', new TextEncoder().encode('{'))).rejects.toThrow('JSON');
  await expect(tolerant.loadsTyped('other', new Uint8Array())).rejects.toThrow('other');
});

function secret(): object {
  return { content: { lc: 1, type: 'secret', id: ['OPENAI_API_KEY'] } };
}
