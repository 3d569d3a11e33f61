import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { serveAgent } from './serving.ts';
import type { Serving } from './serving.ts';
import { temporaryAgent } from './temporary-agent.ts';

const odd = temporaryAgent({
  'langgraph.json': { graphs: { odd: './odd.ts:odd' } },
  'odd.ts': `
    import { Annotation, StateGraph } from '@langchain/langgraph';
    const State = Annotation.Root({ how: Annotation<string>, out: Annotation<unknown> });
    export const odd = new StateGraph(State)
      .addNode('do', async ({ how }) => {
        if (how === 'a ring') {
          const ring: Record<string, unknown> = {};
          ring['self'] = ring;
          return { out: ring };
        }
        if (how === 'a secretive value') return { out: { toJSON() { throw new Error('not me'); } } };
        if (how === 'an error without a text') throw Object.assign(new Error('x'), { message: { a: 1n } });
        if (how === 'an error that throws') throw Object.assign(new Error('x'), { name: Symbol('y') });
        return { out: how };
      })
      .addEdge('__start__', 'do')
      .addEdge('do', '__end__')
      .compile();`,
});
let serving: Serving;
beforeAll(async () => {
  serving = await serveAgent({ configPath: odd.configPath });
});
afterAll(async () => {
  await serving.close();
  odd.remove();
});

const post = (path: string, body: object): Promise<Response> =>
  fetch(`${serving.url}${path}`, { method: 'POST', body: JSON.stringify(body) });

describe('a run with an unreportable outcome still ends', () => {
  test.each(['a ring', 'a secretive value', 'an error without a text', 'an error that throws'])('%s', async (how) => {
    const { thread_id } = Object(await (await post('/threads', {})).json());
    const request = { assistant_id: 'odd', input: { how }, stream_mode: ['updates'] };
    const events = (await (await post(`/threads/${thread_id}/runs/stream`, request)).text()).trim().split('\n\n');
    expect(events.at(-1)).toMatch(/^event: error\ndata: \{"error":"\w+","message":".+"\}\nid: \d+$/);
    expect(await (await fetch(`${serving.url}/threads/${thread_id}`)).json()).toMatchObject({ status: 'error' });
    expect(await (await post('/runs/wait', request)).json()).toMatchObject({
      __error__: { message: expect.any(String) },
    });
    // The thread is free for the next run.
    const next = await post(`/threads/${thread_id}/runs/wait`, { ...request, input: { how: 'well', out: 0 } });
    expect(await next.json()).toMatchObject({ out: 'well' });
  });
});
