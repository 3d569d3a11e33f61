import { describe, expect, test } from 'vitest';
import { eventStream } from '../../../../src/services/agent/api/event-stream.ts';
import { heartbeatJson } from '../../../../src/services/agent/api/heartbeat-json.ts';
import { EventLog } from '../../../../src/services/agent/runs/event-log.ts';

/** A simulated clock. */
function simulated() {
  let now = 0;
  const sleepers: { until: number; wake: () => void }[] = [];
  return {
    now: () => now,
    sleep: (ms: number, signal?: AbortSignal) =>
      new Promise<void>((wake, reject) => {
        sleepers.push({ until: now + ms, wake });
        signal?.addEventListener('abort', () => reject(new Error('stopped')), { once: true });
      }),
    async pass(ms: number) {
      for (const end = now + ms; ;) {
        const next = sleepers.toSorted((a, b) => a.until - b.until)[0];
        if (!next || next.until > end) {
          now = end;
          return;
        }
        now = next.until;
        sleepers.splice(sleepers.indexOf(next), 1);
        next.wake();
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
  };
}

const noListener = () => undefined;

describe('heartbeats', () => {
  test('are sent every five seconds in a silent stream', async () => {
    const clock = simulated();
    const log = new EventLog('none');
    const response = eventStream(log, { clock, onGone: noListener, headers: {} });
    log.add('metadata', '{}');
    await clock.pass(4000);
    log.add('values', '1');
    await clock.pass(2000);
    await clock.pass(4000);
    await clock.pass(5000);
    log.close();
    expect(await response.text()).toBe(
      'event: metadata\ndata: {}\nid: 0\n\nevent: values\ndata: 1\nid: 1\n\n: heartbeat\n\n: heartbeat\n\n',
    );
  });

  test('start a late response after a second, then add newlines', async () => {
    const clock = simulated();
    const { promise, resolve } = Promise.withResolvers<string>();
    const answer = heartbeatJson(promise, { clock, onGone: noListener, headers: { 'content-location': '/here' } });
    await clock.pass(1000);
    const response = await answer;
    expect(response.headers.get('content-location')).toBe('/here');
    await clock.pass(11_000);
    resolve('{"a":1}');
    expect(await response.text()).toBe('\n\n\n{"a":1}');
  });

  test('stop when the client disconnects, which the run is notified of', async () => {
    const clock = simulated();
    const log = new EventLog('none');
    let gone = 0;
    const response = eventStream(log, { clock, onGone: () => (gone += 1), headers: {} });
    await response.body?.cancel();
    log.add('values', '1');
    await clock.pass(60_000);
    expect(gone).toBe(1);
  });
});
