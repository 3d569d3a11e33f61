import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { askAt } from '../ask.ts';
import type { Ask } from '../ask.ts';
import { until } from '../promises/fixture.ts';
import { serveAgent } from '../serving.ts';
import type { Serving } from '../serving.ts';
import { temporaryAgent } from '../temporary-agent.ts';
import type { TemporaryAgent } from '../temporary-agent.ts';

/** `echoes` returns what a node receives of its run, in three steps. */
const graph = `
  import { Annotation, StateGraph } from '@langchain/langgraph';
  const State = Annotation.Root({
    steps: Annotation<string[]>({ reducer: (a, b) => a.concat(b), default: () => [] }),
    reported: Annotation<unknown>,
  });
  const step = (name: string) => async () => ({ steps: [name] });
  export const echoes = new StateGraph(State)
    .addNode('one', async (_state, config) => {
      const { tags, metadata, configurable, context } = config;
      return { steps: ['one'], reported: { tags, metadata, word: configurable.word, context } };
    })
    .addNode('two', step('two')).addNode('three', step('three'))
    .addEdge('__start__', 'one').addEdge('one', 'two').addEdge('two', 'three').addEdge('three', '__end__');`;

let folder: TemporaryAgent;
let serving: Serving;
beforeAll(async () => {
  folder = temporaryAgent({ 'langgraph.json': { graphs: { echoes: './echoes.ts:echoes' } }, 'echoes.ts': graph });
  serving = await serveAgent({ configPath: folder.configPath });
});
afterAll(async () => {
  await serving.close();
  folder.remove();
});

describe('the fields of a run, over HTTP', () => {
  let ask: Ask;
  beforeAll(() => {
    ask = askAt(serving.url);
  });
  const ok = async (method: string, path: string, body?: object): Promise<Record<string, unknown>> => {
    const answer = await ask(method, path, body);
    expect(answer).toMatchObject({ status: 200 });
    return Object(answer.body);
  };
  const thread = async (): Promise<string> => String((await ok('POST', '/threads', {}))['thread_id']);
  /** Runs the graph, on a thread or without one, with additional fields. */
  const run = (more: object, threadId?: string) =>
    ok('POST', `${threadId === undefined ? '' : `/threads/${threadId}`}/runs/wait`, {
      assistant_id: 'echoes',
      input: { steps: ['given'] },
      ...more,
    });
  const history = async (threadId: string): Promise<unknown[]> => {
    const { body } = await ask('GET', `/threads/${threadId}/history?limit=100`);
    return Array.isArray(body) ? body : [];
  };

  test('finds the states of a run by its metadata', async () => {
    const threadId = await thread();
    for (const which of ['two', 'a\u0000b']) {
      const config = { configurable: { which, word: 'secret' } };
      await run({ metadata: { which, nested: { deep: [1] } }, config }, threadId);
    }
    const found = async (metadata: object) =>
      (await ask('POST', `/threads/${threadId}/history`, { metadata, limit: 100 })).body;
    const states = await found({ which: 'a\u0000b', nested: { deep: [1] } });
    expect(states).toHaveLength(5);
    expect(await found({ which: 'two' })).toHaveLength(5);
    expect(await found({ which: 'three' })).toEqual([]);
    const { metadata } = Object(states)[0];
    for (const key of ['langgraph_step', 'word']) expect(metadata).not.toHaveProperty(key);
  });

  test('that name unknown nodes are accepted with a warning, in the log too', async () => {
    const body = { assistant_id: 'echoes', input: {}, interrupt_before: ['tow', 'ö"'], command: { goto: 'nowhere' } };
    const request = { method: 'POST', body: JSON.stringify(body) };
    const there = 'is no node of this graph, which has "one", "two", "three"';
    const warned = `interrupt_before.0 ${there}; did you mean "two"?; interrupt_before.1 ${there}; command.goto ${there}`;
    const { status, headers } = await fetch(`${serving.url}/runs/wait`, request);
    expect({ status, warning: headers.get('warning') }).toEqual({
      status: 200,
      warning: `299 landfall "${warned.replaceAll('"', "'")}"`,
    });
    expect(serving.lines.join('\n')).toContain(warned);
    const batch = { method: 'POST', body: JSON.stringify([{ assistant_id: 'echoes', input: {} }, body]) };
    expect((await fetch(`${serving.url}/runs/batch`, batch)).headers.get('warning')).toMatch(
      /^299 landfall "1: interrupt/,
    );
  });

  test.each(['on a thread', 'stateless'])(
    'passes input, tags, metadata, configurable and context to the graph, %s',
    { meta: { claims: ['agent.runs.input'] } },
    async (where) => {
      const requested = {
        config: { tags: ['mine'], configurable: { word: 'hey' } },
        metadata: { trace: 'a1' },
        context: { tone: 'warm' },
      };
      expect(await run(requested, where === 'stateless' ? undefined : await thread())).toEqual({
        steps: ['given', 'one', 'two', 'three'],
        reported: {
          tags: expect.arrayContaining(['mine']),
          metadata: expect.objectContaining({ trace: 'a1', graph_id: 'echoes' }),
          word: 'hey',
          context: { tone: 'warm' },
        },
      });
    },
  );

  test.each([
    [{ recursion_limit: 2 }, { __error__: { error: 'GraphRecursionError' } }],
    [{ recursion_limit: 4 }, { steps: ['given', 'one', 'two', 'three'] }],
  ])('takes no more steps than %j allows', async (config, answer) => {
    expect(await run({ config }, await thread())).toMatchObject(answer);
    expect(await run({ config })).toMatchObject(answer);
  });

  test.each([
    ['interrupt_before', ['two'], ['given', 'one']],
    ['interrupt_after', ['two'], ['given', 'one', 'two']],
    ['interrupt_before', '*', ['given']],
    ['interrupt_after', '*', ['given', 'one']],
  ])('interrupts a run with %s %j, and resumes it on request', async (field, nodes, steps) => {
    const threadId = await thread();
    expect(await run({ [field]: nodes }, threadId)).toMatchObject({ steps });
    expect(await ok('GET', `/threads/${threadId}`)).toMatchObject({ status: 'interrupted' });
    const rest = await ok('POST', `/threads/${threadId}/runs/wait`, { assistant_id: 'echoes', input: null });
    expect(rest).toMatchObject({ steps: ['given', 'one', 'two', 'three'] });
    expect(await run({ [field]: nodes })).toMatchObject({ steps });
  });

  test.each([
    [{}, 5],
    [{ durability: 'async' }, 5],
    [{ durability: 'sync' }, 5],
    [{ checkpoint_during: true }, 5],
    [{ durability: 'exit' }, 1],
    [{ checkpoint_during: false }, 1],
  ])('with %j a run leaves %i states', async (how, states) => {
    const threadId = await thread();
    const values = await run(how, threadId);
    expect(await history(threadId)).toHaveLength(states);
    expect(await ok('GET', `/threads/${threadId}/state`)).toMatchObject({ values, next: [] });
    expect(await ok('GET', `/threads/${threadId}`)).toMatchObject({ values, status: 'idle' });
  });

  test(
    'a run without a thread leaves neither a thread nor a run',
    { meta: { claims: ['agent.runs.stateless'] } },
    async () => {
      const [threads, mark] = [Number((await ask('POST', '/threads/count', {})).body), crypto.randomUUID()];
      const requested = { assistant_id: 'echoes', input: { steps: [mark] }, metadata: { mark } };
      const waited = await ask('POST', '/runs/wait', requested);
      const started = await ask('POST', '/runs', requested);
      const place = started.headers.get('content-location') ?? '';
      expect(waited).toMatchObject({ status: 200, body: { steps: [mark, 'one', 'two', 'three'] } });
      await until(async () => ((await ask('GET', place)).status === 404 ? true : undefined));
      for (const { headers } of [waited, started]) {
        const [, threadId, runId] = /^\/threads\/(.+)\/runs\/(.+)$/.exec(headers.get('content-location') ?? '') ?? [];
        expect(threadId).toBeDefined();
        for (const path of ['', '/state', '/history', '/runs', `/runs/${runId}`])
          expect([path, (await ask('GET', `/threads/${threadId}${path}`)).status]).toEqual([path, 404]);
      }
      expect((await ask('POST', '/threads/count', {})).body).toBe(threads);
      expect((await ask('POST', '/threads/search', { metadata: { mark } })).body).toEqual([]);
    },
  );
});
