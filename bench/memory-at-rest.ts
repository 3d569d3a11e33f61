// Resident memory of an idle webhook server. Each contender is a process that loads nothing else.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { contend, startContender } from './contender-process.ts';

/** What a process holds in memory (MB). */
export async function rssOf(pid: number): Promise<number> {
  const { stdout } = await promisify(execFile)('ps', ['-o', 'rss=', '-p', String(pid)]);
  return Number(stdout) / 1024;
}

/** What a process and all that it has started hold in memory (MB). */
export async function rssOfTree(pid: number): Promise<number> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid=,rss=']);
  const all = stdout
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number));
  const within = (root: number): number =>
    all.reduce((sum, [own, parent, rss = 0]) => {
      if (own === root) return sum + rss;
      return parent === root && own !== undefined ? sum + within(own) : sum;
    }, 0);
  return within(pid) / 1024;
}

const idle = () => ({ round: () => rssOf(process.pid) });

const contenders = {
  floor: async () => {
    await (await import('./bare-server.ts')).startBare();
    return idle();
  },
  peer: async () => {
    await (await import('./probot-server.ts')).startProbot();
    return idle();
  },
};

/** A bare server by node:http, and one with Probot's own middleware (MB). */
export async function othersAtRest(restMs: number): Promise<{ floor: number; peer: number }> {
  await using floor = await startContender(import.meta.filename, 'floor');
  await using peer = await startContender(import.meta.filename, 'peer');
  await new Promise((resolve) => setTimeout(resolve, restMs));
  return { floor: await floor.round(), peer: await peer.round() };
}

if (import.meta.main) await contend(contenders);
