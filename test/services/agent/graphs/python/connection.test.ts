import { duplexPair } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { stackOf } from '../../../../../src/kit/errors.ts';
import {
  Connection,
  WorkerGone,
  type Answer,
  type Asked,
  type ConnectionHandlers,
} from '../../../../../src/services/agent/graphs/python/connection.ts';
import { WorkerError } from '../../../../../src/services/agent/graphs/python/worker-error.ts';
import { encodeFrame, FrameReader, type Frame } from '../../../../../src/services/agent/graphs/python/frames.ts';

/** A worker that does what a test tells it. */
function connected(handlers: ConnectionHandlers = {}) {
  const [ours, theirs] = duplexPair();
  const ended = vi.fn<(why: Error) => void>();
  const connection = new Connection(ours, { ...handlers, ended });
  const reader = new FrameReader();
  const received: Frame[] = [];
  const wanted: { kind: string; found: (frame: Frame) => void }[] = [];
  theirs.on('data', (piece: Buffer) => {
    for (const frame of reader.push(piece)) {
      received.push(frame);
      const at = wanted.findIndex(({ kind }) => kind === frame.header['kind']);
      if (at >= 0) wanted.splice(at, 1)[0]?.found(frame);
    }
  });
  const send = (header: Record<string, unknown>, ...attachments: Buffer[]) =>
    void theirs.write(encodeFrame({ header, attachments }));
  const next = (kind: string): Promise<Frame> => {
    const there = received.find(({ header }) => header['kind'] === kind);
    if (there) return Promise.resolve(there);
    return new Promise((found) => wanted.push({ kind, found }));
  };
  open.push(() => connection.end(new Error('over')));
  return { connection, theirs, send, next, received, ended };
}

const open: (() => void)[] = [];
afterEach(() => {
  for (const end of open.splice(0)) end();
});

test('asks, and gets the answer of each request with its bytes', async () => {
  const { connection, send, received } = connected();
  const [one, other] = [connection.ask('state', { n: 1 }), connection.ask('draw', { n: 2 })];
  await expect
    .poll(() => received.map(({ header }) => header))
    .toEqual([
      { kind: 'ask', id: 1, op: 'state', args: { n: 1 } },
      { kind: 'ask', id: 2, op: 'draw', args: { n: 2 } },
    ]);
  send({ kind: 'done', id: 2, value: 'drawn' });
  send({ kind: 'done', id: 1, value: null }, Buffer.from('{}'));
  expect(await other).toEqual({ value: 'drawn', attachments: [] });
  expect(await one).toEqual({ value: null, attachments: [Buffer.from('{}')] });
});

test('fails with what the agent raised, and its traceback', async () => {
  const { connection, send, next } = connected();
  const asked = connection.ask('state', {});
  await next('ask');
  send({ kind: 'failed', id: 1, error: { type: 'ValueError', message: 'no tea', stack: 'File "agent.py"' } });
  const error = await asked.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(WorkerError);
  expect(error).toMatchObject({ name: 'ValueError', message: 'no tea', traceback: 'File "agent.py"' });
});

test('grants more events once half of them are taken', async () => {
  const { connection, send, next } = connected();
  const events = connection.stream('run', {});
  const first = events.next();
  await next('ask');
  for (let at = 0; at < 130; at += 1) send({ kind: 'event', id: 1, value: at });
  send({ kind: 'done', id: 1, value: 'end' });
  expect((await first).value).toMatchObject({ value: 0 });
  for (let at = 1; at < 130; at += 1) expect((await events.next()).value).toMatchObject({ value: at });
  expect((await next('more')).header).toEqual({ kind: 'more', id: 1, events: 128 });
  expect(await events.next()).toMatchObject({ done: true, value: { value: 'end' } });
});

test('cancels what is aborted, and waits for its end', async () => {
  const { connection, send, next } = connected();
  const abort = new AbortController();
  const asked = connection.ask('run', {}, { signal: abort.signal });
  await next('ask');
  abort.abort();
  expect((await next('cancel')).header).toEqual({ kind: 'cancel', id: 1 });
  send({ kind: 'failed', id: 1, error: { type: 'CancelledError', message: 'cancelled' } });
  await expect(asked).rejects.toMatchObject({ name: 'CancelledError' });
});

test('cancels a stream that nobody reads any more', async () => {
  const { connection, send, next } = connected();
  const events = connection.stream('run', {});
  const first = events.next();
  await next('ask');
  send({ kind: 'event', id: 1, value: 1 });
  await first;
  await events.return({});
  expect((await next('cancel')).header).toEqual({ kind: 'cancel', id: 1 });
});

test('cancels once what is aborted and then left', async () => {
  const { connection, send, next, received } = connected();
  const abort = new AbortController();
  const events = connection.stream('run', {}, { signal: abort.signal });
  const first = events.next();
  await next('ask');
  send({ kind: 'event', id: 1, value: 1 });
  await first;
  abort.abort();
  await events.return({});
  void connection.ask('draw', {}).catch(() => undefined);
  await expect.poll(() => received.map(({ header }) => header['kind'])).toEqual(['ask', 'cancel', 'ask']);
});

test('answers what the worker asks for a request, also with an error', async () => {
  const { connection, send, next, received } = connected();
  const answer = async ({ op, attachments }: Asked): Promise<Answer> => {
    if (op === 'fail') throw new TypeError('no');
    return { value: op === 'unframed' ? 1n : op, attachments };
  };
  const asked = connection.ask('run', {}, { answer });
  await next('ask');
  send({ kind: 'ask', id: 7, of: 1, op: 'echo', args: {} }, Buffer.from('x'));
  send({ kind: 'ask', id: 8, of: 1, op: 'fail', args: {} });
  send({ kind: 'ask', id: 9, of: 1, op: 'unframed', args: {} });
  send({ kind: 'ask', id: 10, of: 2, op: 'echo', args: {} });
  await expect.poll(() => received.length).toBe(5);
  expect(new Map(received.map(({ header: { id, ...header } }) => [id, header]))).toEqual(
    new Map<unknown, object>([
      [1, { kind: 'ask', op: 'run', args: {} }],
      [7, { kind: 'done', value: 'echo' }],
      [8, { kind: 'failed', error: { type: 'TypeError', message: 'no' } }],
      [9, { kind: 'failed', error: { type: 'TypeError', message: expect.stringContaining('BigInt') } }],
      [10, { kind: 'failed', error: { type: 'Error', message: expect.stringContaining('has ended') } }],
    ]),
  );
  send({ kind: 'done', id: 1, value: null });
  await asked;
});

test('carries out what the worker tells before the request ends, without an answer', async () => {
  const { promise: mayStore, resolve } = Promise.withResolvers<void>();
  const stored: unknown[] = [];
  const { connection, send, next, received } = connected();
  const answer = async ({ args }: Asked): Promise<Answer> => {
    await mayStore;
    stored.push(args);
    return {};
  };
  const asked = connection.ask('run', {}, { answer });
  const ended = vi.fn<() => void>();
  void asked.then(ended);
  await next('ask');
  send({ kind: 'tell', of: 1, op: 'checkpoint.put', args: { n: 1 } });
  send({ kind: 'tell', of: 2, op: 'checkpoint.put', args: { n: 2 } });
  send({ kind: 'done', id: 1, value: 'end' });
  await sleep(20);
  expect(ended).not.toHaveBeenCalled();
  resolve();
  expect(await asked).toMatchObject({ value: 'end' });
  expect(stored).toEqual([{ n: 1 }]);
  expect(received).toHaveLength(1);
});

test.each(['before', 'after'])('fails a request with what it told, if that fails %s its end', async (when) => {
  const failure = new Error('no space');
  const { connection, send, next, received } = connected();
  const answer = async (): Promise<Answer> => {
    await sleep(when === 'after' ? 20 : 0);
    throw failure;
  };
  const asked = connection.ask('run', {}, { answer });
  await next('ask');
  send({ kind: 'tell', of: 1, op: 'checkpoint.put', args: {} });
  if (when === 'after') send({ kind: 'done', id: 1, value: 'end' });
  await expect(asked).rejects.toBe(failure);
  const cancels = when === 'before' ? ['cancel'] : [];
  await expect.poll(() => received.slice(1).map(({ header }) => header['kind'])).toEqual(cancels);
});

test('gives up what goes on after it was cancelled, once the grace is over', async () => {
  const grace = Promise.withResolvers<void>();
  const overdue = vi.fn<() => void>();
  const { connection, next } = connected({ grace: () => grace.promise, overdue });
  const abort = new AbortController();
  const asked = connection.ask('run', {}, { signal: abort.signal });
  await next('ask');
  abort.abort(new Error('cancelled by a person'));
  await next('cancel');
  expect(overdue).not.toHaveBeenCalled();
  grace.resolve();
  await expect(asked).rejects.toThrow('cancelled by a person');
  expect(overdue).toHaveBeenCalledOnce();
});

test('ends the grace of what ends in time', async () => {
  const grace = Promise.withResolvers<void>();
  const overdue = vi.fn<() => void>();
  let isOver = false;
  const { connection, send, next } = connected({
    grace: (over) => {
      over.addEventListener('abort', () => (isOver = true));
      return grace.promise;
    },
    overdue,
  });
  const abort = new AbortController();
  const asked = connection.ask('run', {}, { signal: abort.signal });
  await next('ask');
  abort.abort();
  await next('cancel');
  send({ kind: 'done', id: 1, value: null });
  await asked;
  grace.resolve();
  await grace.promise;
  expect(isOver).toBe(true);
  expect(overdue).not.toHaveBeenCalled();
});

test.each<[string, (theirs: ReturnType<typeof connected>) => void, string]>([
  ['ends', ({ theirs }) => theirs.destroy(), 'The worker has ended the connection.'],
  ['sends a header that is not known', ({ send }) => send({ kind: 'hum', id: 1 }), 'A frame has a header'],
  ['sends no frame', ({ theirs }) => void theirs.write(Buffer.alloc(8)), 'A frame is shorter'],
])('fails what is open where the worker %s', async (_, act, message) => {
  const worker = connected();
  const asked = worker.connection.ask('state', {});
  await worker.next('ask');
  act(worker);
  const error = await asked.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(WorkerGone);
  expect(String(error)).toContain(message);
  expect(worker.ended).toHaveBeenCalledOnce();
  await expect(worker.connection.ask('state', {})).rejects.toBeInstanceOf(WorkerGone);
});

test('a cause without a traceback shows no place of this server', () => {
  const error = new WorkerError({
    type: 'ConnectionError',
    message: 'no route',
    stack: '  File "agent.py", line 3, in node',
    cause: { type: 'OSError', message: 'unreachable' },
  });
  expect(stackOf(error)).toBe(
    'ConnectionError: no route\nTraceback (most recent call last):\n  File "agent.py", line 3, in node\n' +
      'Caused by: OSError: unreachable',
  );
});
