import { describe, expect, test } from 'vitest';
import type { Clock } from '../../../../src/kit/clock.ts';
import { memoryBound, memoryWatch } from '../../../../src/services/control/compute/memory-bound.ts';
import { memoryBytesIn } from '../../../../src/services/control/compute/process-list.ts';

describe('the memory limit of an agent', () => {
  test.each([
    ['no type means the limit of prod', undefined, undefined, 2_048, 1_464],
    ['prod', 'prod', undefined, 2_048, 1_464],
    ['dev', 'dev', undefined, 1_024, 732],
    ['dev_free', 'dev_free', undefined, 512, 366],
    ['resource_spec overrides the type', 'dev', { memory_limit_mb: 300 }, 300, 214],
    ['the limit is twice the requested memory', undefined, { memory_mb: 100 }, 200, 143],
    ['a resource_spec without memory uses the type', 'dev_free', { cpu: 1 }, 512, 366],
  ] as const)('%s', (_, deploymentType, resourceSpec, totalMb, heapMib) => {
    expect(memoryBound({ deploymentType, resourceSpec })).toEqual({ totalMb, heapMib });
  });
});

test('counts memory and swap of a process, but no mapped files', () => {
  const status = [
    'Name:\tnode',
    'VmRSS:\t  9000 kB',
    'RssAnon:\t  3000 kB',
    'RssFile:\t  5000 kB',
    'RssShmem:\t  1000 kB',
    'VmPTE:\t    10 kB',
    'VmSwap:\t   500 kB',
    'HugetlbPages:\t  2048 kB\n',
  ].join('\n');
  expect(memoryBytesIn(status)).toBe((3_000 + 1_000 + 10 + 500 + 2_048) * 1_024);
});

test('reports once that an agent is over its limit, and ignores others', async () => {
  const used = new Map([
    [1, 100],
    [2, 100],
    [3, 100],
  ]);
  let ring = (): void => {};
  const clock: Clock = { now: () => 0, sleep: () => new Promise((resolve) => (ring = resolve)) };
  const look = async (): Promise<void> => {
    ring();
    await new Promise((resolve) => setImmediate(resolve));
  };
  const watch = memoryWatch(clock, () => []);
  const recorded: string[] = [];
  const family = (id: number) => ({ usage: () => ({ processes: 1, memoryBytes: used.get(id) ?? 0 }) });
  const ended = new AbortController();
  const never = new AbortController().signal;
  watch.watch(family(1), 150, (bytes) => recorded.push(`1: ${bytes}`), never);
  watch.watch(family(2), 150, (bytes) => recorded.push(`2: ${bytes}`), never);
  watch.watch(family(3), 150, (bytes) => recorded.push(`3: ${bytes}`), ended.signal);
  await look();
  expect(recorded).toEqual([]);
  used.set(1, 151).set(3, 1_000);
  ended.abort();
  await look();
  used.set(1, 200);
  await look();
  expect(recorded).toEqual(['1: 151']);
});
