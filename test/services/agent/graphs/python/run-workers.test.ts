import { duplexPair } from 'node:stream';
import { afterEach, expect, test } from 'vitest';
import { Connection, WorkerGone } from '../../../../../src/services/agent/graphs/python/connection.ts';
import { runWorkers } from '../../../../../src/services/agent/graphs/python/run-workers.ts';
import { loggerTo } from '../../../../logger.ts';

const open: Connection[] = [];
afterEach(() => {
  for (const each of open.splice(0)) each.end(new Error('over'));
});

function connection(): Connection {
  const made = new Connection(duplexPair()[0], {});
  open.push(made);
  return made;
}

/** Workers of which one is shared, and the others are counted as they start and end. */
function workers({ starts = true } = {}) {
  const shared = connection();
  const own = { started: 0, ended: 0 };
  const makeDedicated = () => ({
    connection: async () => {
      own.started += 1;
      if (!starts) throw new WorkerGone('too large');
      return connection();
    },
    close: async () => void (own.ended += 1),
  });
  const lines: string[] = [];
  const of = runWorkers({
    shared: { connection: async () => shared },
    makeDedicated,
    log: loggerTo((line) => lines.push(line)),
  });
  /** An attempt of a run that ends so. @returns whether its worker was the shared one. */
  const attempt = async (runId: string, failure?: unknown): Promise<boolean> => {
    const worker = await of.forRun(runId, new AbortController().signal);
    await worker.release(failure);
    return worker.connection === shared;
  };
  return { of, own, lines, attempt };
}

const gone = new WorkerGone('killed');

test('gives a run its own worker once the shared one has ended twice under it', async () => {
  const { attempt, own, lines } = workers();
  expect([await attempt('a', gone), await attempt('a', gone), await attempt('a')]).toEqual([true, true, false]);
  expect(own).toEqual({ started: 1, ended: 1 });
  expect(lines.join('\n')).toContain('under run a: its next attempt has one of its own.');
  expect(await attempt('a')).toBe(true);
});

test('counts the ends of workers alone, and those of each run apart', async () => {
  const { attempt } = workers();
  expect([await attempt('a', gone), await attempt('b', gone), await attempt('a', new Error('a bug'))]).not.toContain(
    false,
  );
  expect([await attempt('a', gone), await attempt('a'), await attempt('b', gone), await attempt('b')]).toEqual([
    true,
    true,
    true,
    false,
  ]);
});

test('has two dedicated workers at a time, and a cancelled run leaves the queue', async () => {
  const { of, attempt, own } = workers();
  const runs = ['a', 'b', 'c', 'd'];
  for (const run of runs) for (const _ of [1, 2]) await attempt(run, gone);
  const cancelled = new AbortController();
  const [first] = await Promise.all(runs.slice(0, 2).map((run) => of.forRun(run, new AbortController().signal)));
  const waits = of.forRun('c', cancelled.signal);
  const next = of.forRun('d', new AbortController().signal);
  cancelled.abort(new Error('cancelled'));
  await expect(waits).rejects.toThrow('cancelled');
  expect(own.started).toBe(2);
  await first?.release(undefined);
  await (await next).release(undefined);
  expect(own).toEqual({ started: 3, ended: 2 });
});

test('frees the place of a worker that does not start', async () => {
  const { attempt, own } = workers({ starts: false });
  for (const run of ['a', 'b', 'c', 'd', 'e']) {
    for (const _ of [1, 2]) await attempt(run, gone);
    await expect(attempt(run)).rejects.toThrow('too large');
    await expect.poll(() => own.started - own.ended).toBe(0);
  }
  expect(own).toEqual({ started: 5, ended: 5 });
});
