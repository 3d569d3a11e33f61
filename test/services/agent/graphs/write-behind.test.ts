import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { maxBytesAtOnce, type CheckpointBatch } from '../../../../src/services/agent/graphs/checkpoint-batch.ts';
import { CheckpointWriteTracker } from '../../../../src/services/agent/graphs/checkpoint-writes.ts';
import { queryWithRetries, withRetries } from '../../../../src/services/agent/storage/retry-policy.ts';
import { systemClock } from '../../../../src/kit/clock.ts';
import { WriteBehind } from '../../../../src/services/agent/graphs/write-behind.ts';

const threadId = 'thread';

/** Writes of one run, and the batches in which they are stored: the ids of their checkpoints. */
function openRun(store: (ids: string[]) => Promise<void> = async () => undefined) {
  const stored: string[][] = [];
  const idsIn = (batch: CheckpointBatch): string[] =>
    [...(batch.parameters()[1] ?? '').matchAll(/"id":"(\w+)"/g)].map(([, id = '']) => id);
  const behind = new WriteBehind(async (_, batch) => {
    await store(idsIn(batch));
    stored.push(idsIn(batch));
  });
  behind.begin('run', threadId);
  const put = (id: string, bytes = 1): Promise<boolean> =>
    behind.add('run', { threadId, bytes }, (batch) => {
      const value = { channel: 'said', version: id, type: 'json', bytes: new Uint8Array(bytes) };
      batch.addCheckpoint({ namespace: '', id, parentId: undefined, checkpoint: '{}', metadata: '{}' }, [value]);
    });
  return { behind, put, stored, idsIn };
}

test('stores what a run writes in quick succession at once', async () => {
  const { put, stored } = openRun();
  expect([await put('a'), await put('b')]).toEqual([true, true]);
  expect(stored).toEqual([]);
  await expect.poll(() => stored).toEqual([['a', 'b']]);
});

test('leaves the writes of other runs, and to other threads, to the caller', async () => {
  const { behind } = openRun();
  expect(await behind.add('other', { threadId, bytes: 1 }, () => undefined)).toBe(false);
  expect(await behind.add('run', { threadId: 'another', bytes: 1 }, () => undefined)).toBe(false);
  expect(await behind.add(null, { threadId, bytes: 1 }, () => undefined)).toBe(false);
});

test('stores before a read of the thread, also what is just being written', async () => {
  const stored: string[] = [];
  const tracker = new CheckpointWriteTracker(async (runId) => void stored.push(runId));
  tracker.beginRun({ runId: 'run', threadId, metadata: {}, isSync: false });
  void tracker.during('run', async () => {
    await sleep(1);
    await tracker.behind.add('run', { threadId, bytes: 1 }, () => undefined);
  });
  await tracker.flushThread('another');
  expect(stored).toEqual([]);
  await tracker.flushThread(threadId);
  expect(stored).toEqual(['run']);
});

test('waits for a batch that is being stored before it stores the next', async () => {
  const { promise: isStored, resolve } = Promise.withResolvers<void>();
  const { behind, put, stored } = openRun(async ([id]) => (id === 'a' ? isStored : undefined));
  await put('a');
  const first = behind.flush('run');
  await sleep(0);
  await put('b');
  const alone = behind.writeAlone('run', async () => stored.push(['alone']));
  await sleep(20);
  expect(stored).toEqual([]);
  resolve();
  await Promise.all([first, alone]);
  expect(stored).toEqual([['a'], ['b'], ['alone']]);
});

test('stores a batch before it becomes too large', async () => {
  const { put, stored } = openRun();
  await put('a', maxBytesAtOnce - 10);
  await put('b', 10);
  expect(stored).toEqual([['a']]);
});

test('ends a run with what is not stored yet', async () => {
  const { behind, put, stored, idsIn } = openRun();
  await put('a');
  await behind.settle('run');
  await put('b');
  await sleep(20);
  const ended = await behind.finish('run', async (left) => ('batch' in left && left.batch ? idsIn(left.batch) : []));
  expect({ ended, stored }).toEqual({ ended: ['a', 'b'], stored: [] });
});

test('fails the next write and the end once a batch could not be stored', async () => {
  const failure = new Error('full');
  const { behind, put, stored } = openRun(() => Promise.reject(failure));
  await put('a');
  await expect(behind.flush('run')).rejects.toBe(failure);
  await expect(put('b')).rejects.toBe(failure);
  await expect(behind.writeAlone('run', async () => 'written')).rejects.toBe(failure);
  await expect(behind.settle('run')).rejects.toBe(failure);
  expect(await behind.finish('run', async (left) => left)).toEqual({ failure });
  expect(stored).toEqual([]);
});

test('discards what a run has left when it is forgotten', async () => {
  const { behind, put, stored } = openRun();
  await put('a');
  behind.forget('run');
  await sleep(20);
  expect(stored).toEqual([]);
});

test('waits for the database as the run does, whoever needs its writes stored', async () => {
  let tries = 0;
  const tracker = new CheckpointWriteTracker(() =>
    queryWithRetries(async () => {
      tries += 1;
      if (tries < 3) throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
    }),
  );
  tracker.beginRun({ runId: 'run', threadId, metadata: {}, isSync: false });
  const clock = { ...systemClock, sleep: async () => undefined };
  await withRetries({ clock, signal: new AbortController().signal }, async () => {
    await tracker.behind.add('run', { threadId, bytes: 1 }, () => undefined);
  });
  await tracker.flushThread(threadId);
  await expect(tracker.settle('run')).resolves.toBeUndefined();
  expect(tries).toBe(3);
});

describe('writes that arrive while earlier ones are stored', () => {
  /** Writes of one run by the tracker, without waiting: what is stored, in order. */
  function openWrites() {
    const stored: string[] = [];
    const idsIn = (batch: CheckpointBatch) => (batch.parameters()[1] ?? '').match(/(?<="id":")\w+/g) ?? [];
    const tracker = new CheckpointWriteTracker(async (_, batch) => {
      await sleep(5);
      stored.push(...idsIn(batch));
    });
    tracker.beginRun({ runId: 'run', threadId, metadata: {}, isSync: false });
    const add = (id: string, bytes: number, dumpMs = 0) =>
      tracker.during('run', async (turn) => {
        await sleep(dumpMs);
        await turn;
        return tracker.behind.add('run', { threadId, bytes }, (batch) => {
          const value = { channel: 'said', version: id, type: 'json', bytes: new Uint8Array(bytes) };
          batch.addCheckpoint({ namespace: '', id, parentId: undefined, checkpoint: '{}', metadata: '{}' }, [value]);
        });
      });
    const alone = (write: () => unknown) =>
      tracker.during('run', async (turn) => {
        await turn;
        return tracker.behind.writeAlone('run', async () => write());
      });
    return { tracker, stored, add, alone };
  }

  test('are stored after a large one', async () => {
    const { tracker, stored, add, alone } = openWrites();
    const all = [add('a', 1), tracker.behind.flush('run'), alone(() => stored.push('large')), add('b', 1)];
    await Promise.all(all);
    await tracker.flush('run');
    expect(stored).toEqual(['a', 'large', 'b']);
  });

  test('are stored after one that fills the batch, or takes longer to serialize', async () => {
    const { tracker, stored, add } = openWrites();
    await Promise.all([add('a', maxBytesAtOnce / 2), add('b', maxBytesAtOnce - 100, 5), add('c', 10)]);
    await tracker.flush('run');
    expect(stored).toEqual(['a', 'b', 'c']);
  });

  test('are not stored once one has failed', async () => {
    const { tracker, stored, add, alone } = openWrites();
    const refuse = (): never => {
      throw new Error('refused');
    };
    const outcomes = await Promise.allSettled([add('a', 1), alone(refuse), add('b', 1)]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
    await expect(tracker.flush('run')).rejects.toThrow('refused');
    await expect(tracker.settle('run')).rejects.toThrow('refused');
    expect(stored).toEqual(['a']);
  });
});
