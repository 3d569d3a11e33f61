import { duplexPair } from 'node:stream';
import { Hono } from 'hono';
import { afterEach, expect, test } from 'vitest';
import type { AppEnv } from '../../../../../src/services/agent/http/custom-app.ts';
import { Connection, WorkerGone } from '../../../../../src/services/agent/graphs/python/connection.ts';
import { encodeFrame, FrameReader, type Frame } from '../../../../../src/services/agent/graphs/python/frames.ts';
import { Refusal } from '../../../../../src/services/agent/refusal.ts';
import { pythonApp } from '../../../../../src/services/agent/graphs/python/python-app.ts';
import { loggerTo } from '../../../../logger.ts';

const open: Connection[] = [];
afterEach(() => {
  for (const each of open.splice(0)) each.end(new Error('over'));
});

/** What a worker does with a frame: it sends frames, with bytes as their attachments. */
type Worker = (frame: Frame, send: (header: Record<string, unknown>, ...attachments: Buffer[]) => void) => void;

/** A server with one route, `/ours`, behind an application whose worker does what a test says. */
function served(worker: Worker, isMounted = true) {
  const [ours, theirs] = duplexPair();
  const connection = new Connection(ours, {});
  open.push(connection);
  const asked: unknown[] = [];
  const reader = new FrameReader();
  theirs.on('data', (piece: Buffer) => {
    for (const frame of reader.push(piece)) {
      const { kind, op, args } = frame.header;
      if (kind === 'ask') asked.push([op, Object(args).path, Object(args).unknown]);
      worker(frame, (header, ...attachments) => void theirs.write(encodeFrame({ header, attachments })));
    }
  });
  const lines: string[] = [];
  const parts = { host: { connection: () => Promise.resolve(connection) }, log: loggerTo((line) => lines.push(line)) };
  const { before, after } = pythonApp(parts, { isMounted });
  const app = new Hono<AppEnv>();
  app.use(async (c, next) => {
    c.res.headers.set('x-cors', '*');
    await next();
  });
  if (before) app.route('/', before);
  app.get('/ok', (c) => c.json({ ok: true }));
  app.post('/ours', async (c) => c.text(`ours: ${await c.req.text()}, ${c.req.header('x-more')}`));
  app.notFound((c) => {
    c.set('isUnknown', true);
    return after?.(c.req.raw, { user: undefined, upgrade: undefined }) ?? c.text('not here', 404);
  });
  app.onError((error, c) =>
    error instanceof Refusal ? error.toResponse() : c.text(error.message, error instanceof WorkerGone ? 503 : 500),
  );
  const post = (path: string) => app.request(path, { method: 'POST', body: 'tea' }, {});
  const probe = () => app.request('/ok', {}, {});
  return { post, probe, asked, lines, connection };
}

const start = { type: 'start', status: 201, headers: [['x-app', '1']] };
const isAsk = ({ header }: Frame): boolean => header['kind'] === 'ask';

test('answers a probe by itself, also where the worker has ended', async () => {
  const { probe, asked, connection } = served(() => undefined);
  connection.end(new WorkerGone('killed'));
  expect((await probe()).status).toBe(200);
  expect(asked).toEqual([]);
});

test('goes on with its own route where the application has no part, with the request untouched', async () => {
  const { post, asked } = served(({ header }, send) => {
    if (header['kind'] !== 'ask') return;
    send({ kind: 'event', id: header['id'], value: { type: 'pass' } });
    send({ kind: 'done', id: header['id'], value: null });
  });
  const response = await post('/ours');
  expect([response.status, await response.text()]).toEqual([200, 'ours: tea, undefined']);
  expect(asked).toEqual([['http', '/ours', false]]);
});

test.each([true, false])(
  'asks the application for paths that it does not have itself (mounted: %s)',
  async (mounted) => {
    const { post, asked } = served((frame, send) => {
      const { id, args } = frame.header;
      if (!isAsk(frame)) return;
      if (Object(args).unknown === true) {
        send({ kind: 'event', id, value: start });
        send({ kind: 'event', id, value: { type: 'body', more: false } }, Buffer.from('theirs'));
      } else send({ kind: 'event', id, value: { type: 'pass' } });
      send({ kind: 'done', id, value: null });
    }, mounted);
    const response = await post('/nowhere');
    expect([response.status, await response.text(), response.headers.get('x-app')]).toEqual([201, 'theirs', '1']);
    expect(response.headers.get('x-cors')).toBe('*');
    expect(asked).toEqual([...(mounted ? [['http', '/nowhere', false]] : []), ['http', '/nowhere', true]]);
  },
);

test('gives its own route what the middleware has made of the request, and the middleware the response', async () => {
  let told: unknown;
  const { post } = served((frame, send) => {
    const { kind, id, op, value } = frame.header;
    if (kind === 'ask' && op === 'http') {
      const args = { headers: [['x-more', '7']] };
      send({ kind: 'ask', id: 1, of: id, op: 'http.next', args }, Buffer.from('changed'));
    } else if (kind === 'done' && id === 1) {
      told = value;
      send({ kind: 'ask', id: 2, of: 1, op: 'http.next_read', args: {} });
    } else if (kind === 'done' && id === 2) {
      send({ kind: 'event', id: 1, value: start });
      send({ kind: 'event', id: 1, value: { type: 'body', more: false } }, Buffer.concat(frame.attachments));
      send({ kind: 'done', id: 1, value: null });
    }
  });
  const response = await post('/ours');
  expect([response.status, await response.text()]).toEqual([201, 'ours: changed, 7']);
  expect(told).toMatchObject({ status: 200, unknown: false });
  expect([...response.headers.keys()]).toEqual(['x-app']);
});

test('asks to retry where the worker ends before the response, and breaks off where it ends in it', async () => {
  const before = served((frame) => isAsk(frame) && before.connection.end(new WorkerGone('It is gone.')));
  expect((await before.post('/ours')).status).toBe(503);
  const within = served((frame, send) => isAsk(frame) && send({ kind: 'event', id: 1, value: start }));
  const response = await within.post('/ours');
  within.connection.end(new WorkerGone('It is gone.'));
  await expect(response.text()).rejects.toThrow('It is gone.');
  expect(within.lines).toEqual([]);
});

test('says that it is done where the worker ends after its own route, and not what the middleware has not seen', async () => {
  const { post, connection } = served((frame, send) => {
    const { kind, id, op } = frame.header;
    if (kind === 'ask' && op === 'http') send({ kind: 'ask', id: 1, of: id, op: 'http.next', args: {} });
    else if (kind === 'done' && id === 1) send({ kind: 'ask', id: 2, of: 1, op: 'http.next_read', args: {} });
    else if (kind === 'done' && id === 2) connection.end(new WorkerGone('It is gone.'));
  });
  const response = await post('/ours');
  expect([response.status, await response.text()]).toEqual([409, expect.stringContaining('was carried out')]);
});

test('logs what the application raises after its response', async () => {
  const { post, lines } = served((frame, send) => {
    if (!isAsk(frame)) return;
    send({ kind: 'event', id: 1, value: start });
    send({ kind: 'event', id: 1, value: { type: 'body', more: false } });
    send({ kind: 'failed', id: 1, error: { type: 'ValueError', message: 'no tea', stack: 'ValueError: no tea' } });
  });
  const response = await post('/hello');
  expect([response.status, await response.text()]).toEqual([201, '']);
  await expect.poll(() => lines.join('\n')).toContain('POST /hello of `http.app` failed: ValueError: no tea');
});
