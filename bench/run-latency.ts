// What a run costs on our agent server, beside the bare engine with the same checkpoints in the same Postgres, and
// beside the public JavaScript server (which keeps everything in memory). The graph is that of examples/echo-agent.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { MemorySaver } from '@langchain/langgraph-checkpoint';
import * as z from 'zod';
import { graph } from '../examples/echo-agent/src/graph.ts';
import { Checkpoints } from '../src/agent-server/graphs/checkpoints.ts';
import { openStorage } from '../src/agent-server/storage/open.ts';
import { connectAgentServer, type AgentServerClient } from '../src/client/agent.ts';
import { createDatabase } from '../src/database/databases.ts';
import { startEmbeddedPostgres } from '../src/database/embedded.ts';
import { installPublicAgentServer, startPublicAgentServer } from '../test/partners/start-public-agent-server.ts';
import { contend, startContender } from './contender-process.ts';
import type { Measured } from './figure.ts';
import { interleave, median, spread, type Contender, type RoundsOptions } from './rounds.ts';

const root = dirname(import.meta.dirname);
const input = { input: 'Ada' };

/** One run on a new thread: asked for at once, or followed. */
const kinds = ['wait', 'stream', 'stateless'] as const;
type Kind = (typeof kinds)[number];

/** How long `count` runs take, one after the other (ms each). `run` resolves with the time of one. */
async function eachOf(count: number, run: () => Promise<number>): Promise<number> {
  let total = 0;
  for (let made = 0; made < count; made += 1) total += await run();
  return total / count;
}

const runs: Readonly<Record<Kind, (agent: AgentServerClient) => Promise<number>>> = {
  wait: async (agent) => waited(agent, (await agent.createThread({})).thread_id),
  stateless: (agent) => waited(agent, undefined),
  stream: async (agent) => {
    const { thread_id: threadId } = await agent.createThread({});
    const request = { assistant_id: 'echo', input, stream_mode: ['updates' as const, 'values' as const] };
    const began = performance.now();
    let lastAt = began;
    let seen = 0;
    // To the last event: the public server keeps the connection open for half a second after it.
    for await (const { event } of agent.streamRun(request, threadId)) {
      lastAt = performance.now();
      if (event === 'updates') seen += 1;
    }
    if (seen !== 2) throw new Error(`${seen} of 2 nodes were seen`);
    return lastAt - began;
  },
};

async function waited(agent: AgentServerClient, threadId: string | undefined): Promise<number> {
  const began = performance.now();
  const result = await agent.waitRun({ assistant_id: 'echo', input }, threadId);
  if (result.kind !== 'values') throw new Error(`the run failed: ${JSON.stringify(result)}`);
  return performance.now() - began;
}

/** The engine by itself, in a process of its own. */
async function engine(databaseUrl = '', kind = ''): Promise<Contender> {
  const storage = await openStorage(databaseUrl, randomUUID(), console.error);
  const keeping = graph.withConfig({});
  keeping.checkpointer = new Checkpoints(storage.pool, new MemorySaver().serde);
  const run = async (): Promise<number> => {
    const config = { configurable: { thread_id: randomUUID() } };
    const began = performance.now();
    if (kind === 'stream') {
      let lastAt = began;
      let seen = 0;
      for await (const [mode] of await keeping.stream(input, { ...config, streamMode: ['updates', 'values'] })) {
        lastAt = performance.now();
        if (mode === 'updates') seen += 1;
      }
      if (seen !== 2) throw new Error(`${seen} of 2 nodes were seen`);
      return lastAt - began;
    }
    const { output } = await (kind === 'stateless' ? graph : keeping).invoke(input, config);
    if (output !== 'hello Ada') throw new Error(`the graph answered ${output}`);
    return performance.now() - began;
  };
  return { round: () => (kind === 'at-once' ? perSecond(100, run) : eachOf(10, run)) };
}

/** Runs a second, where this many are asked for at once until all are made. */
const atOnce = 50;

async function perSecond(count: number, run: () => Promise<number>): Promise<number> {
  const began = performance.now();
  let left = count;
  const one = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await run();
    }
  };
  await Promise.all(Array.from({ length: atOnce }, one));
  return (count / (performance.now() - began)) * 1000;
}

/** Our agent server, as the control service starts it: a process of its own. */
async function startOurs(databaseUrl: string): Promise<{ url: string } & AsyncDisposable> {
  const child = spawn(process.execPath, [join(root, 'src/agent-server/main.ts')], {
    env: {
      PATH: process.env['PATH'],
      DATABASE_URI: databaseUrl,
      LANDFALL_GRAPH_CONFIG: join(root, 'examples/echo-agent/langgraph.json'),
      LANDFALL_DRAIN_MS: '0',
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const gone = new Promise<void>((leave) => child.once('close', () => leave()));
  const port = await new Promise<number>((found, fail) => {
    child.once('error', fail);
    child.once('close', (code) => fail(new Error(`our agent server ended with ${code}`)));
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line.includes('"listening"')) found(z.object({ port: z.int() }).parse(JSON.parse(line)).port);
    });
  });
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      await gone;
    },
  };
}

const told: Readonly<Record<Kind, { ours: string; floor: string }>> = {
  wait: { ours: 'POST /threads/{id}/runs/wait, kept in Postgres', floor: 'invoke, the same checkpoints in Postgres' },
  stream: {
    ours: 'POST /threads/{id}/runs/stream, to its last event',
    floor: 'stream, the same checkpoints, to its last event',
  },
  stateless: { ours: 'POST /runs/wait', floor: 'invoke, no checkpoints' },
};

/** Time of one run of two nodes, one at a time (ms), and runs a second with many at once. */
export async function runLatency(): Promise<Measured[]> {
  await using ending = new AsyncDisposableStack();
  // A database outlives whoever started it, unless it is stopped.
  const leave = (): void => void ending.disposeAsync().finally(() => process.exit(1));
  process.once('SIGINT', leave).once('SIGTERM', leave);
  ending.defer(() => void process.off('SIGINT', leave).off('SIGTERM', leave));

  const folder = mkdtempSync(join(tmpdir(), 'landfall-bench-'));
  ending.defer(() => rmSync(folder, { recursive: true, force: true }));
  // As root the database runs as another user, who has to get in.
  chmodSync(folder, 0o711);
  const postgres = await startEmbeddedPostgres({ dataDir: join(folder, 'postgres'), log: () => undefined });
  ending.defer(() => postgres.stop());
  const database = (name: string) => createDatabase(postgres.url, name);
  const connect = (url: string): AgentServerClient => {
    const agent = connectAgentServer({ url, userAgent: 'landfall-bench', env: {} });
    ending.defer(() => agent.close());
    return agent;
  };
  const ours = connect(ending.use(await startOurs(await database('ours'))).url);
  const peerUrl = await startPeer(ending);
  const peer = peerUrl === undefined ? undefined : connect(peerUrl);
  const floorUrl = await database('floor');

  const compare = async (kind: Kind | 'at-once', work: Work, options: RoundsOptions): Promise<Compared> => {
    await using floor = await startContender(import.meta.filename, 'engine', floorUrl, kind);
    const contenders: Record<string, Contender> = {
      ours: { round: () => work(ours, 1) },
      floor,
      ...(peer ? { peer: { round: () => work(peer, peerPart) } } : {}),
    };
    const rounds = await interleave(contenders, options);
    return {
      ours: median(rounds['ours'] ?? []),
      floor: median(rounds['floor'] ?? []),
      ...(rounds['peer'] ? { peer: median(rounds['peer']) } : {}),
      spread: spread(rounds['ours'] ?? []),
    };
  };

  const measured: Measured[] = [];
  for (const kind of kinds) {
    const work: Work = (agent, part) => eachOf(Math.ceil(10 * part), () => runs[kind](agent));
    const compared = await compare(kind, work, { rounds: 9, warmups: 2 });
    measured.push({
      figure: `run-${kind}`,
      unit: 'ms',
      ...compared,
      told: { ...told[kind], peer: peerWords },
      targets: [],
    });
  }
  const work: Work = (agent) => perSecond(100, () => runs.wait(agent));
  measured.push({
    figure: 'runs-at-once',
    unit: 'runs/s',
    ...(await compare('at-once', work, { rounds: 5, warmups: 1 })),
    told: {
      ours: `${atOnce} at once: a thread made, POST /threads/{id}/runs/wait`,
      floor: `${atOnce} at once: invoke, the same checkpoints`,
      peer: peerWords,
    },
    targets: [],
  });
  return measured;
}

/** One round on a server; a slow one does a part of it. */
type Work = (agent: AgentServerClient, part: number) => Promise<number>;
type Compared = Pick<Measured, 'ours' | 'floor' | 'peer' | 'spread'>;

/** The public server takes half a second for every run: fewer of them tell as much. */
const peerPart = 0.2;
const peerWords = 'the public server, in memory';

/** The public agent server, where its packages are there or can be had. */
async function startPeer(ending: AsyncDisposableStack): Promise<string | undefined> {
  try {
    await installPublicAgentServer();
  } catch (error) {
    console.error(
      `No peer: its packages could not be installed (${error instanceof Error ? error.message : String(error)}).`,
    );
    return undefined;
  }
  const server = await startPublicAgentServer('echo-agent');
  ending.defer(() => server.stop());
  return server.url;
}

if (import.meta.main) await contend({ engine });
