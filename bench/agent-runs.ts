// What a run costs on our agent server, beside the bare engine with the same checkpoints in the same Postgres, and
// beside the public JavaScript server, which keeps everything in memory. The graph is that of examples/echo-agent.
import { join } from 'node:path';
import { buildAgentServer } from '../scripts/agent-server.ts';
import { agentMemory } from './agent-memory.ts';
import { startOurs, startPeer } from './agent-servers.ts';
import { benchFolder, startBenchPostgres } from './bench-postgres.ts';
import type { Measured, Target, Times } from './figure.ts';
import { interleave, median, quantile, sized, spread, type Contender } from './rounds.ts';
import { startRunLoad, type RoundRequest, type RunLoad, type RunRound } from './run-load.ts';

const agentLoad = join(import.meta.dirname, 'agent-load.ts');
const engineLoad = join(import.meta.dirname, 'engine-load.ts');

/** How many runs a round has, by how many there are at once. A round is over when it took that long (ms). */
const sizes = [
  { atOnce: 1, count: sized(100, 2) },
  { atOnce: 10, count: sized(200, 2) },
  { atOnce: 50, count: sized(400, 2) },
] as const;
const ROUND_MS = 1_500;
const rounds = { rounds: 5, warmups: 1 };
const warmupRuns = sized(300, 2);

type Kind = Exclude<RoundRequest['kind'], 'tokens' | 'alone'>;
type Loads = { ours: RunLoad; floor: RunLoad } & Partial<Record<Other, RunLoad>>;
/** The graph called with checkpoints in memory, and with none. */
type Other = 'peer' | 'inMemory' | 'plain';
type Rounds = { ours: RunRound[]; floor: RunRound[] } & Partial<Record<Other, RunRound[]>>;

const peerWords = 'the public server, in memory';
const notes: Readonly<Record<Kind, { figure: string; ours: string; floor: string }>> = {
  wait: {
    figure: 'run-wait',
    ours: 'POST /threads/{id}/runs/wait, on threads that exist',
    floor: 'invoke, the same checkpoints in the same Postgres',
  },
  stream: {
    figure: 'run-stream',
    ours: 'POST /threads/{id}/runs/stream, to its end, on threads that exist',
    floor: 'stream, the same checkpoints, to its end',
  },
  'thread-and-wait': {
    figure: 'run-with-thread',
    ours: 'POST /threads, then POST /threads/{id}/runs/wait',
    floor: 'invoke, the same checkpoints; it makes no thread',
  },
};

/** Runs a second and how long each takes, 1, 10 and 50 at once; time to the first event; overhead; memory. */
export async function agentRuns(): Promise<Measured[]> {
  await using ending = new AsyncDisposableStack();
  const folder = ending.use(benchFolder());
  const postgres = ending.use(await startBenchPostgres(folder.path));
  const program = await buildAgentServer(folder.path);
  const database = (name: string): Promise<string> => postgres.database(name);
  const memory = await agentMemory({ agentLoad, engineLoad, program, database });

  const server = ending.use(await startOurs({ program, databaseUrl: await database('ours') }));
  const ours = ending.use(await startRunLoad(agentLoad, server.url));
  const floor = ending.use(await startRunLoad(engineLoad, 'postgres', await database('floor')));
  const inMemory = ending.use(await startRunLoad(engineLoad, 'memory'));
  const plain = ending.use(await startRunLoad(engineLoad, 'nothing'));
  const peerServer = await startPeer();
  if (peerServer) ending.use(peerServer);
  const peer = peerServer && ending.use(await startRunLoad(agentLoad, peerServer.url));
  const beside = peer ? { peer } : {};

  // Code gets compiled: a first hundred runs are slower than all the others.
  for (const load of [ours, floor, inMemory, plain]) await load.round({ kind: 'wait', count: warmupRuns, atOnce: 10 });

  const measured: Measured[] = [];
  for (const { atOnce, count } of sizes) {
    const direct = atOnce === 1 ? { inMemory, plain } : {};
    const done = await compare({ ours, floor, ...beside, ...direct }, { kind: 'wait', atOnce, count });
    measured.push(throughput('wait', atOnce, done), ...(atOnce === 1 ? overhead(done) : []));
  }
  for (const { atOnce, count } of sizes) {
    const done = await compare({ ours, floor, ...beside }, { kind: 'stream', atOnce, count });
    measured.push(throughput('stream', atOnce, done), ...firsts(atOnce, done));
  }
  for (const { atOnce, count } of sizes) {
    const kind = 'thread-and-wait';
    measured.push(throughput(kind, atOnce, await compare({ ours, floor }, { kind, atOnce, count })));
  }
  return [...measured, ...memory];
}

/** Alternates between the contenders. The public server takes half a second per run, so it does fewer. */
async function compare(loads: Loads, requested: RoundRequest): Promise<Rounds> {
  const of = (load: RunLoad, count = requested.count): Contender<RunRound> => ({
    round: () => load.round({ ...requested, count, withinMs: ROUND_MS }),
  });
  const { ours, floor, peer, ...others } = loads;
  const done = await interleave<string, RunRound>(
    {
      ours: of(ours),
      floor: of(floor),
      ...(peer ? { peer: of(peer, sized(requested.atOnce * 2, 2)) } : {}),
      ...Object.fromEntries(Object.entries(others).map(([name, load]) => [name, of(load)])),
    },
    rounds,
  );
  return { ...done, ours: done['ours'] ?? [], floor: done['floor'] ?? [] };
}

const middle = (of: readonly RunRound[], what: (round: RunRound) => number): number => median(of.map(what));
const half = (times: readonly number[]): number => quantile(times, 0.5);
const timesOf = (of: readonly RunRound[]): Times => ({
  p50: middle(of, ({ times }) => half(times)),
  p99: middle(of, ({ times }) => quantile(times, 0.99)),
});

/** The same of each: ours, the floor and, where there is one, the peer. */
const ofEach = <Value>({ ours, floor, peer }: Rounds, what: (of: readonly RunRound[]) => Value) => ({
  ours: what(ours),
  floor: what(floor),
  ...(peer ? { peer: what(peer) } : {}),
});

function throughput(kind: Kind, atOnce: number, done: Rounds): Measured {
  const { figure, ours, floor } = notes[kind];
  const targets: Target[] = [
    { of: 'floor', least: 0.6 },
    { of: 'p50', most: 3 },
  ];
  return {
    figure: `${figure}-${atOnce}`,
    unit: 'runs/s',
    ...ofEach(done, (of) => middle(of, ({ perSecond }) => perSecond)),
    times: ofEach(done, timesOf),
    notes: { ours: `${atOnce} at once: ${ours}`, floor, peer: peerWords },
    // The engine has no threads to create, so this figure has no target.
    targets: kind === 'thread-and-wait' ? [] : targets,
    spread: spread(done.ours.map(({ perSecond }) => perSecond)),
  };
}

/** What a run takes beyond the graph called directly: with checkpoints as the server keeps them, and with none. */
function overhead({ ours, peer, floor, inMemory = [], plain = [] }: Rounds): Measured[] {
  const p50 = (of: readonly RunRound[]) => timesOf(of).p50;
  return [
    {
      figure: 'run-overhead',
      unit: 'ms',
      ours: p50(ours) - p50(floor),
      ...(peer ? { peer: p50(peer) - p50(inMemory) } : {}),
      notes: {
        ours: 'run-wait-1 less the graph called directly with the same checkpoints',
        peer: 'the public server less the graph called directly with checkpoints in memory',
      },
      targets: [],
    },
    {
      figure: 'run-overhead-in-all',
      unit: 'ms',
      ours: p50(ours) - p50(plain),
      ...(peer ? { peer: p50(peer) - p50(plain) } : {}),
      notes: { ours: 'run-wait-1 less the graph called directly with no checkpoints', peer: peerWords },
      targets: [],
    },
  ];
}

/** Time to the first event of any kind, and to the first node update. */
function firsts(atOnce: number, done: Rounds): Measured[] {
  return [
    {
      figure: `first-event-${atOnce}`,
      unit: 'ms',
      ...ofEach(done, (of) => middle(of, ({ toFirst }) => half(toFirst))),
      notes: {
        ours: `${atOnce} at once: until the first event`,
        floor: 'the first event of its stream',
        peer: peerWords,
      },
      targets: [],
    },
    {
      figure: `first-update-${atOnce}`,
      unit: 'ms',
      ...ofEach(done, (of) => middle(of, ({ toFirstUpdate }) => half(toFirstUpdate))),
      notes: { ours: `${atOnce} at once: until the first node update`, floor: 'the same', peer: peerWords },
      targets: [],
    },
  ];
}
