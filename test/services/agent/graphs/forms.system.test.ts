import { Client } from '@langchain/langgraph-sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { askAt } from '../ask.ts';
import type { Ask } from '../ask.ts';
import { serveAgent } from '../serving.ts';
import type { Serving } from '../serving.ts';
import { manyGraphs } from './many-graphs.ts';

const agent = manyGraphs();
let serving: Serving;
beforeAll(async () => {
  serving = await serveAgent({ configPath: agent.configPath });
});
afterAll(async () => {
  await serving.close();
  agent.remove();
});

describe('graphs, over HTTP', () => {
  const ask: Ask = (...request) => askAt(serving.url)(...request);
  const get = async (path: string) => (await ask('GET', `/assistants/${path}`)).body;
  const wait = async (assistant_id: string, rest: object = {}) =>
    (await ask('POST', '/runs/wait', { assistant_id, input: {}, ...rest })).body;

  describe('of every form', () => {
    test.each(['compiled', 'builder', 'sync', 'async', 'promised', 'held', 'script', 'common'])(
      'run: %s',
      { meta: { claims: ['agent.graphs.executed'] } },
      async (graph) => {
        expect(await wait(graph)).toEqual({ said: graph });
      },
    );

    test.each(['sync', 'async'])('are created from the run’s configuration: %s', async (graph) => {
      expect(await wait(graph, { config: { configurable: { word: 'mine' } } })).toEqual({ said: 'mine' });
    });

    test('are created from their assistant’s configuration when read, or fail clearly', async () => {
      const config = { configurable: { word: 'unspeakable' } };
      const { body } = await ask('POST', '/assistants', { graph_id: 'sync', config });
      for (const part of ['graph', 'schemas', 'subgraphs']) {
        const refused = await ask('GET', `/assistants/${Object(body)['assistant_id']}/${part}`);
        expect(refused).toMatchObject({
          status: 422,
          body: { detail: expect.stringMatching(/^Graph "sync" can't be made .*: TypeError: there is no such word$/) },
        });
      }
      expect(await ask('GET', '/assistants/sync/schemas')).toMatchObject({ status: 200 });
      // Validated with the fields that its runs supply.
      const run = { config: { configurable: { word: 'configured' } } };
      expect(await wait(Object(body)['assistant_id'], run)).toEqual({ said: 'configured' });
    });
  });

  test("validate a context by the schema from the assistant's configuration", async () => {
    const make = (strict: boolean, tone: string) =>
      ask('POST', '/assistants', { graph_id: 'chosen', config: { configurable: { strict } }, context: { tone } });
    expect(await make(false, 'warm')).toMatchObject({ status: 200 });
    expect(await make(true, 'warm')).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['body', 'context', 'tone'] }] },
    });
    expect(await make(true, 'exact')).toMatchObject({ status: 200 });
  });

  describe('are drawn', () => {
    const nodes = async (path: string) => Object(await get(path))['nodes'].map(({ id }: { id: string }) => id);

    test('as nodes and edges', async () => {
      expect(await get('nested/graph')).toEqual({
        nodes: [
          { id: '__start__', type: 'schema', data: expect.any(Object) },
          { id: 'before', type: 'runnable', data: { id: expect.any(Array), name: 'before' } },
          { id: 'middle', type: 'runnable', data: expect.any(Object) },
          { id: '__end__', type: 'schema', data: expect.any(Object) },
        ],
        edges: [
          { source: '__start__', target: 'before', conditional: false },
          { source: 'before', target: 'middle', conditional: false },
          { source: 'middle', target: '__end__', conditional: false },
        ],
      });
    });

    test.each([
      ['closed', '', ['before', 'middle']],
      ['disabled explicitly', '?xray=false', ['before', 'middle']],
      ['to depth 0', '?xray=0', ['before', 'middle']],
      ['one level', '?xray=1', ['before', 'middle:before', 'middle:core']],
      ['two levels', '?xray=2', ['before', 'middle:before', 'middle:core:act', 'middle:core:rest']],
      ['wholly', '?xray=true', ['before', 'middle:before', 'middle:core:act', 'middle:core:rest']],
    ])('with subgraphs, %s', async (_how, query, inner) => {
      const ids: string[] = await nodes(`nested/graph${query}`);
      expect(ids.filter((id) => !id.startsWith('__'))).toEqual(inner);
    });

    test('also by the public client', async () => {
      const { assistants } = new Client({ apiUrl: serving.url, apiKey: null });
      const ids = async (xray: boolean | number) =>
        (await assistants.getGraph('nested', { xray })).nodes.map(({ id }) => id).filter((id) => id !== '__start__');
      expect(await ids(false)).toEqual(['before', 'middle', '__end__']);
      expect(await ids(1)).toEqual(['before', 'middle:before', 'middle:core', '__end__']);
      expect(await ids(true)).toEqual(['before', 'middle:before', 'middle:core:act', 'middle:core:rest', '__end__']);
      expect(Object.keys(await assistants.getSubgraphs('nested', { recurse: true }))).toEqual([
        'middle',
        'middle|core',
      ]);
      expect(Object.keys(await assistants.getSubgraphs('nested', { namespace: 'middle|core' }))).toEqual([
        'middle|core',
      ]);
    });

    test.each(['deep', '-1', '1.5', 'True'])('not for an invalid depth: %s', async (xray) => {
      expect(await ask('GET', `/assistants/nested/graph?xray=${xray}`)).toMatchObject({
        status: 422,
        body: { detail: [{ loc: ['query', 'xray'] }] },
      });
    });

    test.each(['functional', 'held', 'typed', 'whole'])('however they are defined: %s', async (graph) => {
      expect((await nodes(`${graph}/graph?xray=true`)).length).toBeGreaterThan(1);
    });
  });

  describe('list their subgraphs', () => {
    test.each([
      ['directly', '', ['middle']],
      ['at any depth', '?recurse=true', ['middle', 'middle|core']],
      ['by name', '/middle', ['middle']],
      ['by nested name', '/middle|core?recurse=true', ['middle|core']],
      ['by name, encoded', '/middle%7Ccore', ['middle|core']],
      ['by an unknown name', '/mid', []],
    ])('%s', async (_how, rest, names) => {
      const inside = await get(`nested/subgraphs${rest}`);
      expect(Object.keys(Object(inside))).toEqual(names);
      const schema = { type: 'object', properties: { word: { type: 'string' } } };
      for (const part of Object.values(Object(inside)))
        expect(part).toMatchObject({ input_schema: schema, output_schema: schema, state_schema: schema });
    });

    test('none if there are none', async () => {
      expect(await get('compiled/subgraphs')).toEqual({});
      expect(await get('functional/subgraphs?recurse=1')).toEqual({});
    });
  });

  describe('have schemas', () => {
    const $schema = 'https://json-schema.org/draft/2020-12/schema';

    test('from a zod state, its input, output and context', async () => {
      const schemas = Object(await get('typed/schemas'));
      expect(schemas).toMatchObject({
        graph_id: 'typed',
        state_schema: {
          type: 'object',
          properties: { messages: expect.any(Object), count: { type: 'number' }, note: { type: 'string' } },
        },
        output_schema: { properties: { count: { type: 'number' } } },
        context_schema: {
          $schema,
          properties: { tone: { enum: ['warm', 'cold'] }, volume: { type: 'number', default: 5 } },
          required: ['tone'],
        },
      });
      expect(Object.keys(schemas.input_schema.properties)).toEqual(['messages']);
      expect(Object.keys(schemas.output_schema.properties)).toEqual(['count']);
      expect(schemas.input_schema.properties.messages).toMatchObject({ langgraph_type: 'messages' });
      expect(schemas.config_schema).toEqual(schemas.context_schema);
    });

    test('from the fields of a state schema, in the form they are sent', async () => {
      expect(await get('stated/schemas')).toMatchObject({
        input_schema: { type: 'object', properties: { step: { type: 'string' }, history: { type: 'string' } } },
        state_schema: { type: 'object', properties: { history: { type: 'array' } }, required: ['step'] },
      });
    });

    test('from the channel names if only TypeScript has the types', async () => {
      expect(await get('noted/schemas')).toEqual({
        graph_id: 'noted',
        input_schema: { $schema, type: 'object', properties: { question: {} } },
        output_schema: { $schema, type: 'object', properties: { answer: {} } },
        state_schema: {
          $schema,
          type: 'object',
          properties: {
            messages: { type: 'array', items: { type: 'object' }, langgraph_type: 'messages' },
            question: {},
            answer: {},
          },
        },
      });
    });

    test('from the channel names if a type has no JSON schema', async () => {
      const properties = { at: {}, title: {} };
      expect(await get('dated/schemas')).toMatchObject({ state_schema: { type: 'object', properties } });
    });

    test('as messages if they are the whole state', async () => {
      const messages = { $schema, type: 'array', items: { type: 'object' }, langgraph_type: 'messages' };
      expect(await get('whole/schemas')).toEqual({
        graph_id: 'whole',
        input_schema: messages,
        output_schema: messages,
        state_schema: messages,
      });
    });

    test('accepting anything if nothing is known', async () => {
      expect(await get('functional/schemas')).toEqual({ graph_id: 'functional', state_schema: {} });
    });
  });

  test('are missing for an unknown assistant', async () => {
    for (const part of ['graph', 'schemas', 'subgraphs', 'subgraphs/x'])
      expect(await ask('GET', `/assistants/unknown/${part}`)).toMatchObject({ status: 404 });
  });
});
