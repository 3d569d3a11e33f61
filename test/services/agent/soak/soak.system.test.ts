import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Pool } from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startTestPostgres } from '../../../kit/postgres/postgres.ts';
import type { TestPostgres } from '../../../kit/postgres/postgres.ts';
import { temporaryAgent } from '../temporary-agent.ts';
import type { TemporaryAgent } from '../temporary-agent.ts';
import { Caller } from './caller.ts';
import { chanceOf } from './chance.ts';
import { problemsOfFirings, problemsOfHooks, problemsOfRuns, rowsOf } from './check-runs.ts';
import { problemsOfKept } from './check-kept.ts';
import { problemsOfSteps } from './check-steps.ts';
import { problemsOfMarks } from './check-marks.ts';
import { connections, leftovers, lookAt } from './leaks.ts';
import { keepAsking } from './mix.ts';
import { Pair } from './processes.ts';
import { startFlakyReceiver } from './receiver.ts';
import type { FlakyReceiver } from './receiver.ts';
import { newWorker } from './worker.ts';

/** Duration of the load; `LANDFALL_SOAK_MINUTES=10` is a full round. */
const minutes = Number(process.env['LANDFALL_SOAK_MINUTES'] ?? 0.2);
/** The random seed; `LANDFALL_SOAK_SEED` repeats another round. */
const seed = Number(process.env['LANDFALL_SOAK_SEED'] ?? Date.now() % 1_000_000);
/** The number of concurrent clients. */
const WORKERS = 10;
/** The share of the time with kill events; the rest is for observing leaks. */
const STRUCK = 0.65;
/** The minimum number of kill events, however slow this machine is. */
const MIN_KILLS = 3;
/** The longest pause (ms) between two kill events: the minimum number fits into their share of the time. */
const PAUSE_MS = Math.min(6000, (minutes * 60_000 * STRUCK) / (2 * MIN_KILLS));
/** The minimum time (ms) with load and without kill events. */
const CALM_MS = 4000;
/** How long (ms) the servers may take to become idle. */
const SETTLE_MS = 120_000;
/** Allowed heap growth (bytes) of a process while no kill event happens. */
const GROWTH = 48 * 2 ** 20;

/** The expected log lines; anything else is a fault. */
const EXPECTED =
  /^\{"event":"listening"|was left by a process|waited for a slot|failed: RequestedFailure|failed: RunOwnershipLost|ServerStopped: The server stopped|^ +|^}$/;

let postgres: TestPostgres;
let database: Pool;
let receiver: FlakyReceiver;
let agent: TemporaryAgent;
let pair: Pair;
const marks = join(mkdtempSync(join(tmpdir(), 'landfall-soak-')), 'marks');
const draws = chanceOf(seed);

const source = (name: string): string => readFileSync(join(import.meta.dirname, 'agent', name), 'utf8');

beforeAll(async () => {
  [postgres, receiver] = await Promise.all([startTestPostgres(), startFlakyReceiver(chanceOf(seed + 1))]);
  database = new Pool({ connectionString: postgres.url, max: 2 });
  agent = temporaryAgent({
    'langgraph.json': {
      graphs: { soak: './soak.ts:soak', talk: './talk.ts:talk', look: './look.ts:look' },
      webhooks: { url: { allowed_ports: [receiver.port] } },
    },
    'soak.ts': source('soak.ts'),
    'talk.ts': source('talk.ts'),
    'look.ts': source('look.ts'),
  });
  const env = {
    LANDFALL_GRAPH_CONFIG: agent.configPath,
    DATABASE_URI: postgres.url,
    LANDFALL_WEBHOOK_PRIVATE: 'allow',
    SOAK_MARKS: marks,
  };
  pair = new Pair(env, chanceOf(seed + 2));
  await pair.begin();
});
afterAll(async () => {
  await pair.close();
  await receiver.close();
  await database.end();
  await postgres.stop();
  agent.remove();
  rmSync(join(marks, '..'), { recursive: true });
});

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

test(
  'loses nothing, blocks no run and leaks nothing while processes are killed',
  { timeout: minutes * 60_000 + 300_000 },
  async () => {
    console.log(`The soak test lasts ${minutes} minutes, with LANDFALL_SOAK_SEED=${seed}.`);
    const fresh = await lookAt(pair.urls());
    const workers = Array.from({ length: WORKERS }, (_, n) => {
      const chance = chanceOf(seed + 100 + n);
      const caller = new Caller(pair, chance);
      return newWorker({ name: `w${n}`, chance, caller, database, hookAt: `http://127.0.0.1:${receiver.port}` });
    });
    const stop = new AbortController();
    const end = Date.now() + minutes * 60_000;
    const asking = Promise.all(workers.map((worker) => keepAsking(worker, stop.signal)));
    const struckUntil = end - (1 - STRUCK) * minutes * 60_000;
    for (let killEvents = 0; Date.now() < struckUntil || killEvents < MIN_KILLS; killEvents += 1) {
      await sleep(draws.between(500, PAUSE_MS));
      await pair.strike();
    }
    const before = await lookAt(pair.urls());
    await sleep(Math.max(CALM_MS, end - Date.now()));
    stop.abort();
    const steps = await asking;
    receiver.calmDown();
    const settledBy = Date.now() + SETTLE_MS;
    while (Object.keys(await leftovers(database)).length > 0 && Date.now() < settledBy) await sleep(200);

    const rows = await rowsOf(database);
    const problems = [
      ...Object.entries(await leftovers(database)).map(([what, count]) => `there are ${count} ${what}`),
      ...pair.faults,
      ...pair.lines().filter((line) => !EXPECTED.test(line)),
      ...workers.flatMap(({ faults }) => faults),
      ...problemsOfRuns(
        workers.flatMap(({ runs }) => runs.all),
        rows,
      ),
      ...problemsOfHooks(workers, rows, receiver.heard),
      ...problemsOfFirings(workers, rows),
      ...problemsOfMarks(readFileSync(marks, 'utf8'), rows),
    ];
    for (const worker of workers)
      problems.push(...(await problemsOfKept(worker)), ...(await problemsOfSteps(worker, rows)));
    const after = await lookAt(pair.urls());
    console.log({ steps, ...pair.killEvents, rows: rows.length, hooks: receiver.heard.size, fresh, before, after });
    expect(problems).toEqual([]);
    expect(await connections(database)).toBeLessThanOrEqual(4);
    for (const [at, { memory }] of after.entries()) expect(memory - (before[at]?.memory ?? 0)).toBeLessThan(GROWTH);
    // The last connections may still be closing.
    const most = Math.max(...fresh.map(({ descriptors }) => descriptors)) + 4;
    await vi.waitUntil(async () => (await lookAt(pair.urls())).every(({ descriptors }) => descriptors <= most), {
      timeout: 120_000,
      interval: 500,
    });
  },
);
