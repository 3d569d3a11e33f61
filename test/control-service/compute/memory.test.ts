import { spawn } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import type { Clock } from '../../../src/clock.ts';
import { memoryBound } from '../../../src/control-service/compute/memory-bound.ts';
import { groupIn, memoryWatch, ownBytesIn, readMemory } from '../../../src/control-service/compute/memory-watch.ts';

describe('how much memory an agent may take', () => {
  test.each([
    ['a deployment of no type has that of prod', undefined, undefined, 2_048, 1_464],
    ['prod', 'prod', undefined, 2_048, 1_464],
    ['dev', 'dev', undefined, 1_024, 732],
    ['dev_free', 'dev_free', undefined, 512, 366],
    ['what resource_spec says counts more than the type', 'dev', { memory_limit_mb: 300 }, 300, 214],
    ['the limit is twice what is asked for', undefined, { memory_mb: 100 }, 200, 143],
    ['a resource_spec without memory leaves it to the type', 'dev_free', { cpu: 1 }, 512, 366],
  ] as const)('%s', (_, deploymentType, resourceSpec, totalMb, heapMib) => {
    expect(memoryBound({ deploymentType, resourceSpec })).toEqual({ totalMb, heapMib });
  });
});

describe('reading what processes take', () => {
  test.each([
    ['a plain name', '812 (node) S 1 700 700 0', 700],
    ['a name that looks like the rest of the line', '812 (a) S 9 (b) S 1 700 700 0', 700],
    ['a process that has ended', '', undefined],
  ])('the group of %s', (_, stat, group) => {
    expect(groupIn(stat)).toBe(group);
  });

  test('memory that is a copy of a file is not its own', () => {
    const status = 'Name:\tnode\nVmRSS:\t  9000 kB\nRssAnon:\t  3000 kB\nRssFile:\t  5000 kB\nRssShmem:\t  1000 kB\n';
    expect(ownBytesIn(status)).toBe(4_000 * 1_024);
  });

  test('a group is all of its processes', async () => {
    const eats = 'const eaten = Buffer.alloc(60e6, 1); console.log(eaten.length); setInterval(() => {}, 1e6)';
    const started = spawn('/bin/sh', ['-c', '"$@" & "$@"; wait', 'sh', process.execPath, '-e', eats], {
      detached: true,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const group = started.pid ?? 0;
    let told = '';
    for await (const chunk of started.stdout) {
      told += String(chunk);
      if (told.split('\n').length > 2) break;
    }
    const used = readMemory(new Set([group]));
    process.kill(-group, 'SIGKILL');
    expect(used.get(group)).toBeGreaterThan(120e6);
    expect(used.get(group)).toBeLessThan(500e6);
  });
});

test('a group is told once that it is over its bound, and others are left alone', async () => {
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
  const watch = memoryWatch(clock, (groups) => new Map([...used].filter(([group]) => groups.has(group))));
  const told: string[] = [];
  const ended = new AbortController();
  const never = new AbortController().signal;
  watch.watch(1, 150, (bytes) => told.push(`1: ${bytes}`), never);
  watch.watch(2, 150, (bytes) => told.push(`2: ${bytes}`), never);
  watch.watch(3, 150, (bytes) => told.push(`3: ${bytes}`), ended.signal);
  await look();
  expect(told).toEqual([]);
  used.set(1, 151).set(3, 1_000);
  ended.abort();
  await look();
  used.set(1, 200);
  await look();
  expect(told).toEqual(['1: 151']);
});
