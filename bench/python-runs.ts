// What a run of a graph in Python costs on our agent server, beside the bare engine with its public saver in the same
// Postgres, and beside another server in Python.
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { buildAgentServer } from '../scripts/agent-server.ts';
import { openPythonEnvironment } from '../scripts/python-environment.ts';
import { tokensOfRun } from './agent-load.ts';
import { startOurs } from './agent-servers.ts';
import { benchFolder, startBenchPostgres } from './bench-postgres.ts';
import type { Measured, Target, Times } from './figure.ts';
import { rssOfTree } from './memory-at-rest.ts';
import { startPythonLoad } from './python-load.ts';
import { pythonPeer, startPythonPeer } from './python-peer.ts';
import { interleave, isTiny, median, quantile, sized, spread, type Contender } from './rounds.ts';
import { startRunLoad, type RoundRequest, type RunLoad, type RunRound } from './run-load.ts';

const agentLoad = join(import.meta.dirname, 'agent-load.ts');

/** How many runs a round has, by how many there are at once. A round is over when it took that long (ms). */
const sizes = [
  { atOnce: 1, count: sized(60, 2) },
  { atOnce: 10, count: sized(150, 2) },
  { atOnce: 50, count: sized(300, 2) },
] as const;
const roundMs = 2_000;
const rounds = { rounds: 5, warmups: 1 };
/** How long (ms) a process is idle before its memory is measured. */
const restMs = sized(3_000, 100);
/** How many runs memory is measured after; also after half of them. */
const manyRuns = sized(10_000, 4);

type Loads = { ours: RunLoad; floor: RunLoad; peer?: RunLoad };
type Rounds = { ours: RunRound[]; floor: RunRound[]; peer?: RunRound[] };

const notes = {
  ours: 'examples/python-echo-agent on our agent server, with its worker',
  floor: 'the engine alone in Python, with langgraph-checkpoint-postgres in the same Postgres',
  peer: pythonPeer.note,
};

/** Runs a second, 1, 10 and 50 at once; time to the first event; tokens a second; memory; cold start. */
export async function pythonRuns(): Promise<Measured[]> {
  const environment = await openPythonEnvironment({ changes: 'bench' });
  if ('missing' in environment) throw new Error(`There is no Python to measure: ${environment.missing}`);
  const { python } = environment;
  await using ending = new AsyncDisposableStack();
  const folder = ending.use(benchFolder());
  const postgres = ending.use(await startBenchPostgres(folder.path));
  const program = await buildAgentServer(folder.path);
  const agent = { config: 'bench/python/langgraph.json', env: { LANDFALL_PYTHON: python } };
  const environments = join(dirname(import.meta.dirname), '.venv');

  const [ours, floor, peer] = [
    await begun(startOurs({ program, databaseUrl: await postgres.database('ours') }, agent)),
    await begun(startPythonLoad(python, await postgres.database('floor'))),
    // Its packages are many, and its figures would mean nothing.
    isTiny
      ? undefined
      : await begun(startPythonPeer(python, { environments, databaseUrl: await postgres.database('peer') })),
  ];
  for (const each of [ours.server, floor.server, peer?.server]) if (each) ending.use(each);
  const peerServer = peer?.server && { ...peer.server, ms: peer.ms };
  await sleep(restMs);
  const atRest = {
    ours: await rssOfTree(ours.server.pid),
    floor: await rssOfTree(floor.server.pid),
    ...(peerServer ? { peer: await rssOfTree(peerServer.pid) } : {}),
  };
  const loads: Loads = {
    ours: ending.use(await startRunLoad(agentLoad, ours.server.url)),
    floor: floor.server,
    ...(peerServer ? { peer: ending.use(await startRunLoad(agentLoad, peerServer.url)) } : {}),
  };

  const measured: Measured[] = [];
  for (const { atOnce, count } of sizes) {
    const done = await compare(loads, { kind: 'wait', atOnce, count });
    measured.push(perSecond(`python-run-wait-${atOnce}`, 'runs/s', done, [{ of: 'floor', least: 1.3 }]));
  }
  measured.push(await engineAlone(loads));
  for (const { atOnce, count } of sizes) {
    const done = await compare(loads, { kind: 'stream', atOnce, count });
    measured.push(firstEvent(atOnce, done));
  }
  const told = await compare(loads, { kind: 'tokens', atOnce: 1, count: sized(5, 1) });
  const halfway = await memoryAfter(loads.ours, ours.server.pid);
  const atEnd = await memoryAfter(loads.ours, ours.server.pid);
  return [
    ...measured,
    {
      figure: 'python-memory-growth',
      unit: 'MB',
      ours: atEnd,
      floor: halfway,
      notes: {
        ours: `resident, after ${manyRuns} more runs: the server and its worker`,
        floor: `the same after ${manyRuns / 2} of them`,
      },
      targets: [{ of: 'floor', most: 1.1 }],
    },
    perSecond('python-tokens', 'tokens/s', told, [], tokensOfRun),
    {
      figure: 'python-memory-at-rest',
      unit: 'MB',
      ...atRest,
      notes: { ...notes, ours: 'resident, before the first request: the server and its worker' },
      targets: [],
    },
    {
      figure: 'python-cold-start',
      unit: 'ms',
      ours: ours.ms,
      floor: floor.ms,
      ...(peerServer ? { peer: peerServer.ms } : {}),
      notes: { ...notes, ours: 'from the start of the process until it serves, its graphs loaded' },
      targets: [],
    },
  ];
}

/** Runs a second of ours and of the engine that keeps nothing, in its process: what no server with this engine reaches. */
async function engineAlone({ ours, floor }: Loads): Promise<Measured> {
  const size = { atOnce: 10, count: sized(1_000, 2), withinMs: roundMs };
  const round = (load: RunLoad, kind: 'wait' | 'alone'): Contender<RunRound> => ({
    round: () => load.round({ ...size, kind }),
  });
  const done = await interleave<string, RunRound>({ ours: round(ours, 'wait'), floor: round(floor, 'alone') }, rounds);
  const both = { ours: done['ours'] ?? [], floor: done['floor'] ?? [] };
  const figure = perSecond('python-engine-alone', 'runs/s', both, []);
  return { ...figure, notes: { ...notes, floor: 'the engine alone in Python, with its states in memory' } };
}

/** What is started, and how long that took (ms). */
async function begun<Server>(starting: Promise<Server>): Promise<{ server: Server; ms: number }> {
  const began = performance.now();
  return { server: await starting, ms: performance.now() - began };
}

/** What a server holds after half of the many runs (MB). */
async function memoryAfter(load: RunLoad, pid: number): Promise<number> {
  await load.round({ kind: 'wait', atOnce: 50, count: manyRuns / 2 });
  await sleep(restMs);
  return rssOfTree(pid);
}

/** Alternates between the contenders. */
async function compare(loads: Loads, requested: RoundRequest): Promise<Rounds> {
  const of = (load: RunLoad): Contender<RunRound> => ({ round: () => load.round({ ...requested, withinMs: roundMs }) });
  const { ours, floor, peer } = loads;
  const done = await interleave<string, RunRound>(
    { ours: of(ours), floor: of(floor), ...(peer ? { peer: of(peer) } : {}) },
    rounds,
  );
  return { ...done, ours: done['ours'] ?? [], floor: done['floor'] ?? [] };
}

/** The same of each: ours, the floor and, where there is one, the peer. */
const ofEach = <Value>({ ours, floor, peer }: Rounds, what: (of: readonly RunRound[]) => Value) => ({
  ours: what(ours),
  floor: what(floor),
  ...(peer ? { peer: what(peer) } : {}),
});
const middle = (of: readonly RunRound[], what: (round: RunRound) => number): number => median(of.map(what));
const timesOf = (of: readonly RunRound[]): Times => ({
  p50: middle(of, ({ times }) => median(times)),
  p99: middle(of, ({ times }) => quantile(times, 0.99)),
});

function perSecond(figure: string, unit: string, done: Rounds, targets: Target[], ofRun = 1): Measured {
  return {
    figure,
    unit,
    ...ofEach(done, (of) => ofRun * middle(of, (round) => round.perSecond)),
    times: ofEach(done, timesOf),
    notes,
    targets,
    spread: spread(done.ours.map((round) => round.perSecond)),
  };
}

const firstEvent = (atOnce: number, done: Rounds): Measured => ({
  figure: `python-first-event-${atOnce}`,
  unit: 'ms',
  ...ofEach(done, (of) => middle(of, ({ toFirst }) => median(toFirst))),
  notes: { ...notes, ours: `${atOnce} at once: until the first event of a stream` },
  targets: [],
});
