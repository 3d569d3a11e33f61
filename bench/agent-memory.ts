// Resident memory of an agent server: before the first request, and after many runs.
import { setTimeout as sleep } from 'node:timers/promises';
import { startOurs, startPeer } from './agent-servers.ts';
import type { Measured } from './figure.ts';
import { rssOf } from './memory-at-rest.ts';
import { sized } from './rounds.ts';
import { startRunLoad } from './run-load.ts';

/** What is measured with: the files of the loads, and how a database is made. */
export interface AgentMemoryParts {
  agentLoad: string;
  engineLoad: string;
  /** Our agent server. */
  program: string;
  database: (name: string) => Promise<string>;
}

/** How many runs, each on a thread of its own: memory is measured after half of them, and after all. */
const RUNS = sized(10_000, 4);
/** The public server takes half a second for every run. */
const PEER_RUNS = sized(500, 2);
/** How long (ms) a process is idle before its memory is measured. */
const REST_MS = sized(3_000, 100);

/** Memory of ours at rest and after 10,000 runs, of the bare engine at rest, and of the public server (MB). */
export async function agentMemory({ agentLoad, engineLoad, program, database }: AgentMemoryParts): Promise<Measured[]> {
  const ours = await ofServer(await startOurs({ program, databaseUrl: await database('memory') }), agentLoad, RUNS);
  const floor = await ofEngine(engineLoad, await database('memory-floor'));
  const peerServer = await startPeer();
  const peer = peerServer && (await ofServer(peerServer, agentLoad, PEER_RUNS));
  return [
    {
      figure: 'agent-memory-at-rest',
      unit: 'MB',
      ours: ours.atRest,
      floor,
      ...(peer ? { peer: peer.atRest } : {}),
      notes: {
        ours: 'resident, before the first request',
        floor: 'a process with the engine, the graph and the database',
        peer: 'the public server',
      },
      targets: [],
    },
    {
      figure: 'agent-memory-after-runs',
      unit: 'MB',
      ours: ours.atEnd,
      ...(peer ? { peer: peer.atEnd } : {}),
      notes: { ours: `resident, after ${RUNS} runs`, peer: `the public server, after ${PEER_RUNS} runs` },
      targets: [],
    },
    {
      figure: 'agent-memory-growth',
      unit: 'MB',
      ours: ours.atEnd,
      floor: ours.halfway,
      notes: { ours: `resident, after ${RUNS} runs`, floor: `itself after ${RUNS / 2} runs` },
      targets: [{ of: 'floor', most: 1.1 }],
    },
  ];
}

interface Held {
  atRest: number;
  halfway: number;
  atEnd: number;
}

async function ofServer(
  server: { url: string; pid: number } & AsyncDisposable,
  agentLoad: string,
  runs: number,
): Promise<Held> {
  await using stopped = server;
  await using load = await startRunLoad(agentLoad, stopped.url);
  const held = async (): Promise<number> => {
    await sleep(REST_MS);
    return rssOf(stopped.pid);
  };
  const half = { kind: 'wait', count: runs / 2, atOnce: 50 } as const;
  const atRest = await held();
  await load.round(half);
  const halfway = await held();
  await load.round(half);
  return { atRest, halfway, atEnd: await held() };
}

async function ofEngine(engineLoad: string, databaseUrl: string): Promise<number> {
  await using load = await startRunLoad(engineLoad, 'postgres', databaseUrl);
  await sleep(REST_MS);
  // Awaited here: what is returned lets go of the process.
  return await rssOf(load.pid);
}
