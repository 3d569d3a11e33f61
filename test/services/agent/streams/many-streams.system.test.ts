import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../promises/fixture.ts';
import { asking, eventsOf } from '../runs/two-servers.ts';
import { serveAgent } from '../serving.ts';
import type { Serving } from '../serving.ts';
import { countingAgent, numbersIn } from './counting-agent.ts';

const agent = countingAgent();
let serving: Serving;
beforeAll(async () => {
  serving = await serveAgent({ configPath: agent.configPath });
});
afterAll(async () => {
  await serving.close();
  agent.remove();
});

const counting = (input: object) => ({ assistant_id: 'counts', input, stream_mode: ['custom'] });
const upTo = (count: number) => Array.from({ length: count }, (_, n) => n);

describe('many streams on one process', () => {
  test('500 at once lose no event, keep their order, and all end', async () => {
    const { post } = asking(serving);
    const streams = await Promise.all(
      upTo(500).map(() => eventsOf(post('/runs/stream', counting({ to: 10, every: 1 })))),
    );
    for (const events of streams) {
      expect(events[0]?.event).toBe('metadata');
      expect(numbersIn(events)).toEqual(upTo(10));
    }
    expect(new Set(streams.map(([first]) => Object(first?.data).run_id)).size).toBe(500);
  });

  test('500 followers of one run each receive all of it', async () => {
    const { post, get, json } = asking(serving);
    const run = await json(post('/runs', { ...counting({ to: 40, every: 50 }), stream_resumable: true }));
    const place = `/threads/${String(run['thread_id'])}/runs/${String(run['run_id'])}`;
    const streams = await Promise.all(upTo(500).map(() => eventsOf(get(`${place}/stream`))));
    for (const events of streams) expect(numbersIn(events)).toEqual(upTo(40));
  });

  test('an unread socket delays no other, and its run continues', async () => {
    const { post, json, get, status } = asking(serving);
    const { thread_id } = await json(post('/threads'));
    const body = JSON.stringify({ ...counting({ to: 200, every: 0, size: 100_000 }), on_disconnect: 'continue' });
    const socket = connect(Number(new URL(serving.url).port), '127.0.0.1');
    socket.on('error', () => undefined);
    socket.pause();
    socket.write(
      `POST /threads/${String(thread_id)}/runs/stream HTTP/1.1\r\nhost: a\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    const place = await until(async () => {
      const [run]: unknown[] = Object(await json(get(`/threads/${String(thread_id)}/runs`)));
      return run === undefined ? undefined : `/threads/${String(thread_id)}/runs/${Object(run).run_id}`;
    });
    const others = await Promise.all(
      upTo(20).map(() => eventsOf(post('/runs/stream', counting({ to: 10, every: 1 })))),
    );
    for (const events of others) expect(numbersIn(events)).toEqual(upTo(10));
    await until(async () => ((await status(place)) === 'success' ? true : undefined));
    socket.destroy();
  });
});
