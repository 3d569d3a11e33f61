import { expect, test } from 'vitest';
import { systemClock } from '../../../../src/kit/clock.ts';
import { eventStream } from '../../../../src/services/agent/api/event-stream.ts';
import { EventLog } from '../../../../src/services/agent/runs/event-log.ts';

/** The chunks of a stream as they would be written to a socket. */
function follow(log: EventLog) {
  const { body } = eventStream(log, { clock: systemClock, onGone: () => undefined, headers: {} });
  if (!body) throw new Error('a stream has a body');
  const pieces = body.pipeThrough(new TextDecoderStream()).getReader();
  return async () => (await pieces.read()).value;
}

test('events of one step are one chunk, and later ones another', async () => {
  const log = new EventLog('none');
  const next = follow(log);
  log.add('metadata', '{}');
  expect(await next()).toBe('event: metadata\ndata: {}\nid: 0\n\n');
  log.add('updates', '1');
  await Promise.resolve();
  log.add('values', '2');
  expect(await next()).toBe('event: updates\ndata: 1\nid: 1\n\nevent: values\ndata: 2\nid: 2\n\n');
  log.add('updates', '3');
  expect(await next()).toBe('event: updates\ndata: 3\nid: 3\n\n');
  log.close();
  expect(await next()).toBeUndefined();
});

test('the last event is sent before the stream ends', async () => {
  const log = new EventLog('none');
  const next = follow(log);
  log.add('metadata', '{}');
  log.add('error', '"no ink"');
  log.close();
  expect(await next()).toBe('event: metadata\ndata: {}\nid: 0\n\nevent: error\ndata: "no ink"\nid: 1\n\n');
  expect(await next()).toBeUndefined();
});

test('large events are sent alone', async () => {
  const log = new EventLog('none');
  const next = follow(log);
  const large = JSON.stringify('x'.repeat(100_000));
  log.add('values', large);
  log.add('values', large);
  expect(await next()).toBe(`event: values\ndata: ${large}\nid: 0\n\n`);
  expect(await next()).toBe(`event: values\ndata: ${large}\nid: 1\n\n`);
  log.close();
  expect(await next()).toBeUndefined();
});
