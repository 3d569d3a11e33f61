import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Pool } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestPostgres, type TestPostgres } from '../../../../kit/postgres/postgres.ts';
import { describePython } from '../../../../python/needs-python.ts';
import { Caller } from '../../soak/caller.ts';
import { chanceOf } from '../../soak/chance.ts';
import { problemsOfKept } from '../../soak/check-kept.ts';
import { problemsOfMarks } from '../../soak/check-marks.ts';
import { problemsOfHooks, problemsOfRuns, rowsOf, type Row } from '../../soak/check-runs.ts';
import { problemsOfSteps } from '../../soak/check-steps.ts';
import { leftovers } from '../../soak/leaks.ts';
import { keepAsking, type Mix } from '../../soak/mix.ts';
import { Pair } from '../../soak/processes.ts';
import { startFlakyReceiver, type FlakyReceiver } from '../../soak/receiver.ts';
import { runSteps } from '../../soak/steps/runs.ts';
import { statelessSteps } from '../../soak/steps/stateless.ts';
import { threadSteps } from '../../soak/steps/threads.ts';
import { newWorker } from '../../soak/worker.ts';
import { temporaryAgent, type TemporaryAgent } from '../../temporary-agent.ts';

/** How many processes are killed; `LANDFALL_PYTHON_KILLS=1000` is a full round. */
const kills = Number(process.env['LANDFALL_PYTHON_KILLS'] ?? 12);
/** The random seed; `LANDFALL_KILLS_SEED` repeats another round. */
const seed = Number(process.env['LANDFALL_KILLS_SEED'] ?? Date.now() % 1_000_000);
/** The number of concurrent clients. */
const clients = 6;
/** The share of the kills that meet a worker; the others meet a server. */
const ofWorkers = 0.8;
/** The longest pause (ms) between two kills. */
const pauseMs = 1_000;
/** How long (ms) the servers may take to become idle. */
const settleMs = 120_000;

const mix: Mix = [
  [60, runSteps],
  [25, statelessSteps],
  [15, threadSteps],
];

/** The expected log lines; anything else is a fault. */
const expected =
  /^\{"event":"listening"|was left by a process|waited for a slot|RequestedFailure: w|RunOwnershipLost|ServerStopped: The server stopped|The Python process of the agent was ended by SIGKILL|lost its process, and goes on|its next attempt has one of its own|Another one starts with the next request|failed: WorkerGone|^ +|^}$/;

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describePython('an agent in Python whose processes are killed', (python) => {
  const folder = mkdtempSync(join(tmpdir(), 'landfall-kills-'));
  const [marks, pids] = [join(folder, 'marks'), join(folder, 'pids')];
  const linesIn = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []);
  let postgres: TestPostgres;
  let database: Pool;
  let receiver: FlakyReceiver;
  let agent: TemporaryAgent;
  let pair: Pair;

  beforeAll(async () => {
    [postgres, receiver] = await Promise.all([startTestPostgres(), startFlakyReceiver(chanceOf(seed + 1))]);
    database = new Pool({ connectionString: postgres.url, max: 2 });
    agent = temporaryAgent({
      'langgraph.json': {
        dependencies: ['.'],
        graphs: { soak: './soak.py:soak' },
        webhooks: { url: { allowed_ports: [receiver.port] } },
      },
      'soak.py': readFileSync(join(import.meta.dirname, 'agent/soak.py'), 'utf8'),
    });
    pair = new Pair(
      {
        LANDFALL_GRAPH_CONFIG: agent.configPath,
        LANDFALL_PYTHON: python,
        DATABASE_URI: postgres.url,
        LANDFALL_WEBHOOK_PRIVATE: 'allow',
        SOAK_MARKS: marks,
        SOAK_PIDS: pids,
      },
      chanceOf(seed + 2),
    );
    await pair.begin();
  });
  afterAll(async () => {
    await pair?.close();
    await receiver?.close();
    await database?.end();
    await postgres?.stop();
    agent?.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Kills a worker that runs. @returns whether there was one */
  function killWorker(chance: (of: readonly string[]) => string | undefined): boolean {
    // The system gives ids again: only a child of one of the servers is a worker.
    const servers = pair.pids();
    const newest = linesIn(pids).slice(-6);
    const running = newest.filter((pid) => servers.includes(parentOf(Number(pid))));
    const pid = Number(chance(running.slice(-2)));
    return pid > 0 && kill(pid);
  }

  test(
    'loses nothing, and repeats nothing that was recorded as done',
    { timeout: kills * 20_000 + 300_000 },
    async () => {
      console.log(`${kills} processes are killed, with LANDFALL_KILLS_SEED=${seed}.`);
      const workers = Array.from({ length: clients }, (_, n) => {
        const chance = chanceOf(seed + 100 + n);
        const caller = new Caller(pair, chance);
        return newWorker({ name: `w${n}`, chance, caller, database, hookAt: `http://127.0.0.1:${receiver.port}` });
      });
      const stop = new AbortController();
      const asking = Promise.all(workers.map((worker) => keepAsking(worker, stop.signal, mix)));
      const draws = chanceOf(seed);
      let killed = 0;
      while (killed + pair.killEvents.killed < kills && pair.faults.length === 0) {
        await sleep(draws.between(50, pauseMs));
        if (draws.is(ofWorkers)) killed += Number(killWorker((of) => draws.any(of)));
        else await pair.kill();
      }
      stop.abort();
      const steps = await asking;
      receiver.calmDown();
      const settledBy = Date.now() + settleMs;
      while (Object.keys(await leftovers(database)).length > 0 && Date.now() < settledBy) await sleep(200);

      const rows = await rowsOf(database);
      const lines = pair.lines();
      const lost = Map.groupBy(lines, (line) => /Run (\S+) of graph \S+ lost its process/.exec(line)?.[1]);
      const deathsOf = ({ run_id: id }: Row) => lost.get(id)?.length ?? 0;
      const problems = [
        ...Object.entries(await leftovers(database)).map(([what, count]) => `there are ${count} ${what}`),
        ...pair.faults,
        ...lines.filter((line) => !expected.test(line)),
        ...workers.flatMap(({ faults }) => faults),
        ...problemsOfRuns(
          workers.flatMap(({ runs }) => runs.all),
          rows,
        ),
        ...rows
          .filter((row) => row.error === 'WorkerGone' && deathsOf(row) < 2)
          .map((row) => `${row.mark} ended with its process, which had ended ${deathsOf(row)} times before`),
        ...problemsOfHooks(workers, rows, receiver.heard),
        ...problemsOfMarks(
          linesIn(marks).join('\n'),
          rows.map((row) => ({ ...row, attempt: row.attempt + deathsOf(row) })),
        ),
      ];
      for (const worker of workers)
        problems.push(...(await problemsOfKept(worker)), ...(await problemsOfSteps(worker, rows)));
      const statuses = Object.fromEntries(
        [...Map.groupBy(rows, ({ status, error }) => error ?? status)].map(([status, all]) => [status, all.length]),
      );
      const resumed = [...lost].filter(([id]) => id !== undefined).length;
      console.log({ steps, workers: killed, servers: pair.killEvents.killed, rows: rows.length, statuses, resumed });
      expect(problems).toEqual([]);
    },
  );
});

/** Kills a process. @returns whether there was one. */
function kill(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch {
    return false;
  }
}

/** The parent of a process; 0 if there is no such process. */
function parentOf(pid: number): number {
  try {
    return Number(execFileSync('ps', ['-o', 'ppid=', '-p', String(pid)], { encoding: 'utf8' }));
  } catch {
    return 0;
  }
}
