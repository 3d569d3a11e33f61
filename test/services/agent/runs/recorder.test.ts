import { silentLogger } from '../../../../src/kit/logger.ts';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../../../src/kit/clock.ts';
import { EventLog } from '../../../../src/services/agent/runs/event-log.ts';
import { Recorder } from '../../../../src/services/agent/runs/recorder.ts';
import type { DroppedRange, StoredEnding, StoredEvent } from '../../../../src/services/agent/runs/run-events.ts';

const ONE = 10;

/** Adds `first` events of ten characters before any can be stored, then `oneByOne` more. @returns what was stored */
async function recorded({ first, oneByOne }: { first: number; oneByOne: number }) {
  const stored = new Map<number, string>();
  const dropped: DroppedRange[] = [];
  let ending: StoredEnding | undefined;
  const events = {
    write: async (_: string, some: readonly StoredEvent[], end?: StoredEnding) => {
      for (const { id, event, json } of some) stored.set(id, event === 'metadata' ? `${event} ${json}` : event);
      ending = end ?? ending;
    },
    drop: async (_: string, gone: DroppedRange) => {
      for (const id of stored.keys()) if (id < gone.upTo) stored.delete(id);
      stored.set(gone.upTo, 'marker');
      dropped.push(gone);
    },
  };
  const log = new EventLog('all');
  const recorder = new Recorder({
    runId: 'run',
    firstId: 0,
    log,
    events,
    flush: async () => undefined,
    clock: systemClock,
    complain: silentLogger,
    max: 100 * ONE,
  });
  const report = () => log.add('custom', '"12345678"');
  for (let n = 0; n < first; n += 1) report();
  for (let n = 0; n < oneByOne; n += 1) {
    await systemClock.sleep(25);
    report();
  }
  await recorder.end({ kind: 'values', json: 'null' });
  return { stored: [...stored.entries()], dropped, ending };
}

describe('stored events of a run', () => {
  test('are complete within the limit', async () => {
    const { stored, dropped, ending } = await recorded({ first: 90, oneByOne: 3 });
    expect(stored.map(([id]) => id)).toEqual(Array.from({ length: 93 }, (_, id) => id));
    expect(dropped).toEqual([]);
    expect(ending).toMatchObject({ kind: 'values', json: 'null' });
  });

  test('are the latest ones and a marker if they arrive faster than stored', async () => {
    const { stored } = await recorded({ first: 1000, oneByOne: 0 });
    const [reported, ...rest] = stored;
    expect(reported).toEqual([
      999 - rest.length,
      `metadata ${JSON.stringify({ run_id: 'run', attempt: 1, dropped_up_to: reported?.[0] })}`,
    ]);
    expect(rest.length).toBeGreaterThan(60);
    expect(rest.length).toBeLessThanOrEqual(100);
  });

  test('lose the oldest ones beyond the limit', async () => {
    const { stored, dropped } = await recorded({ first: 95, oneByOne: 10 });
    expect(dropped[0]).toMatchObject({ from: 0 });
    expect(stored[0]?.[0]).toBe(dropped.at(-1)?.upTo);
    expect(stored.at(-1)?.[0]).toBe(104);
    expect(stored.length).toBeLessThanOrEqual(101);
  });
});
