import { describe, expect, test } from 'vitest';
import { Backlog } from '../../../../src/services/agent/api/backlog.ts';
import type { ClientBacklog } from '../../../../src/services/agent/api/backlog.ts';

const MB = 1024 * 1024;

describe('the backlog of all clients of a process', () => {
  /** Clients with this many pending megabytes; the last one's have just grown. @returns the disconnected ones */
  const givenUp = (...megabytes: number[]): number[] => {
    const gone: number[] = [];
    const all = new Set<ClientBacklog>();
    const backlogs = megabytes.map((count, at) => {
      const done = new AbortController();
      const giveUp = () => {
        gone.push(at);
        done.abort();
      };
      const never = { now: () => 0, sleep: () => new Promise<void>(() => undefined) };
      return new Backlog(never, done.signal, { bytes: () => count * MB, giveUp }, all);
    });
    backlogs.at(-1)?.grown(1);
    return gone;
  };

  test.each([
    ['little in total', [1, 2, 3], []],
    ['much for several, but within the total', [100, 100, 100], []],
    ['too much in total: disconnects only the client with the largest backlog', [90, 200, 90, 90], [1]],
    ['too much in total, but the growing client has little: waits for another event', [90, 200, 90, 90, 0.5], []],
    ['too much for one', [1, 300], [1]],
  ])('%s', (_, megabytes, expected) => expect(givenUp(...megabytes)).toEqual(expected));

  test('does not count a client whose stream has ended', () => {
    const all = new Set<ClientBacklog>();
    const done = new AbortController();
    const clock = { now: () => 0, sleep: async () => undefined };
    const backlog = new Backlog(clock, done.signal, { bytes: () => 1, giveUp: () => undefined }, all);
    backlog.grown(1);
    expect(all.size).toBe(1);
    done.abort();
    expect(all.size).toBe(0);
  });
});
