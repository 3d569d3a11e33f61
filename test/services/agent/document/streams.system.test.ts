import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runStreamModes } from '../../../../src/contract/agent/stream-event.ts';
import { UUID } from '../promises/fixture.ts';
import { serveAgent } from '../serving.ts';
import type { Serving } from '../serving.ts';
import { sendTo } from './send.ts';
import type { Send } from './send.ts';

let serving: Serving;
beforeAll(async () => {
  serving = await serveAgent();
});
afterAll(() => serving.close());

/** One event as written: the lines, their names, and the JSON of the data. */
interface Written {
  fields: string[];
  event: string;
  data: unknown;
}

/** The raw blocks of a stream, without comments. Parsed strictly here, as our own reader may be lenient. */
function written(text: string): Written[] {
  expect(text).toMatch(/\n\n$/);
  return text
    .slice(0, -2)
    .split('\n\n')
    .map((block) => block.split('\n').filter((line) => !line.startsWith(':')))
    .filter((lines) => lines.length > 0)
    .map((lines) => {
      const parts = lines.map((line) => /^(event|data|id): (.*)$/s.exec(line) ?? []);
      const valueOf = (name: string) => parts.find(([, field]) => field === name)?.[2] ?? '';
      return {
        fields: parts.map(([, field = '?']) => field),
        event: valueOf('event'),
        data: JSON.parse(valueOf('data')),
      };
    });
}

const echo = { assistant_id: 'echo', input: { input: 'Ada' } };
const chat = { assistant_id: 'chat', input: { messages: [{ role: 'user', content: 'hi' }] } };
/** Text that lines, fields and old event readers could take for an end. */
const odd = 'a\nb\r\nc\rd\n\ndata: e\u2028f\u2029g\u0000h \ud83d\ude00';

describe('streams, over HTTP', () => {
  let send: Send;
  beforeAll(() => {
    send = sendTo(serving.url);
  });
  /** The stream of a run, on a thread and without one. */
  const streams = async (run: object): Promise<Written[][]> => {
    const { thread_id } = Object(await (await send('POST', '/threads', {})).json());
    const all: Written[][] = [];
    for (const path of [`/threads/${thread_id}/runs/stream`, '/runs/stream']) {
      const response = await send('POST', path, run);
      expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
      all.push(written(await response.text()));
    }
    return all;
  };

  test.each(runStreamModes)(
    'mode %s: each event has its type and JSON; metadata comes first',
    {
      meta: {
        claims: [
          'agent.stream.event-line',
          'agent.stream.data-line',
          'agent.stream.metadata-first',
          'agent.stream.metadata-run-id',
          'agent.stream.type-metadata',
          'agent.server.sse-streams',
        ],
      },
    },
    async (mode) => {
      const run = mode.startsWith('messages') ? chat : echo;
      for (const [first, ...others] of await streams({ ...run, stream_mode: [mode] })) {
        expect(first).toMatchObject({ event: 'metadata', data: { run_id: expect.stringMatching(UUID) } });
        for (const { fields } of others) expect(fields).toEqual(['event', 'data', 'id']);
        expect(others.filter(({ event }) => event === '' || event === 'metadata')).toEqual([]);
        expect(others.length).toBeGreaterThanOrEqual(mode === 'custom' || mode === 'tools' ? 0 : 2);
      }
    },
  );

  test(
    'the first event has the id of the run on the thread',
    { meta: { claims: ['agent.stream.metadata-run-id'] } },
    async () => {
      const { thread_id } = Object(await (await send('POST', '/threads', {})).json());
      const [first] = written(await (await send('POST', `/threads/${thread_id}/runs/stream`, echo)).text());
      const { run_id } = Object(first?.data);
      const run = await send('GET', `/threads/${thread_id}/runs/${run_id}`);
      expect(await run.json()).toMatchObject({ run_id, status: 'success', kwargs: { input: echo.input } });
    },
  );

  test('any state is sent as one line of JSON', { meta: { claims: ['agent.stream.data-line'] } }, async () => {
    for (const events of await streams({ ...echo, input: { input: odd }, stream_mode: ['values'] })) {
      expect(events.map(({ event }) => event)).toEqual(['metadata', 'values', 'values', 'values']);
      expect(events.at(-1)?.data).toMatchObject({ input: odd, output: `hello ${odd}` });
    }
  });

  test(
    'the last event of a failed run is its error',
    { meta: { claims: ['agent.errors.stream-failure', 'agent.stream.data-line'] } },
    async () => {
      for (const events of await streams({ ...echo, input: { input: 'x', fail: odd }, stream_mode: ['values'] })) {
        expect(events.filter(({ event }) => event === 'error')).toHaveLength(1);
        expect(events.at(-1)).toMatchObject({ event: 'error', data: { error: 'RequestedFailure', message: odd } });
      }
    },
  );

  test(
    'in mode updates, all later events are of nodes of the graph',
    { meta: { claims: ['agent.stream.updates-by-node', 'agent.stream.updates-type'] } },
    async () => {
      const nodes = ['prepare', 'answer'];
      for (const [, ...later] of await streams({ ...echo, stream_mode: ['updates'] })) {
        expect(later.map(({ event }) => event)).toEqual(['updates', 'updates']);
        expect(later.map(({ data }) => Object.keys(Object(data)))).toEqual(nodes.map((node) => [node]));
      }
    },
  );
});
