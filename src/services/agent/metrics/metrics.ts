import type { MiddlewareHandler } from 'hono';
import { routePath } from 'hono/route';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { type Clock, steadyNow } from '../../../kit/clock.ts';
import { sql } from 'kysely';
import type { Runs } from '../runs/runs.ts';
import type { Storage } from '../storage/open.ts';

interface MetricsDependencies {
  storage: Storage;
  runs: Runs;
  /** The number of concurrent runs of this process. */
  atOnce: number;
  clock: Clock;
}

async function readLoadSnapshot({ storage, runs, atOnce }: MetricsDependencies) {
  const query = sql<{ pending: string; running: string }>`
    select count(*) filter (where status = 'pending') as pending, count(*) filter (where status = 'running') as running
    from runs where ended_at is null`;
  const { rows } = await query.execute(storage.db);
  const active = Math.min(runs.runIds().length, atOnce);
  const { totalCount, idleCount, waitingCount } = storage.pool;
  return {
    /** Of all processes. */
    queue: { num_pending: Number(rows[0]?.pending ?? 0), num_running: Number(rows[0]?.running ?? 0) },
    /** The run slots of this process. */
    workers: { max: atOnce, active, available: atOnce - active },
    /** This process's database connections, and the statements waiting for one. */
    database: { connections: totalCount, idle: idleCount, waiting: waitingCount },
  };
}

/** What there is to do without a request: what is due, and when the next of the rest is. */
async function readWork({ storage, clock }: MetricsDependencies) {
  const now = new Date(clock.now());
  const query = sql<{ unfinished: string; next_at: Date | null }>`
    with due_at as (
      select coalesce(start_after, ${now}) as at from runs where ended_at is null and status in ('pending', 'running')
      union all select next_run_date from crons where next_run_date is not null
      union all select next_attempt_at from webhook_deliveries
    )
    select count(*) filter (where at <= ${now}) as unfinished, min(at) filter (where at > ${now}) as next_at from due_at`;
  const { rows } = await query.execute(storage.db);
  return { unfinished: Number(rows[0]?.unfinished ?? 0), next_at: rows[0]?.next_at?.toISOString() ?? null };
}
type LoadSnapshot = Awaited<ReturnType<typeof readLoadSnapshot>>;

/** Histogram buckets (seconds) of response times, from reads to waiting for a run. */
const durationBuckets = [0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60];

/**
 * The metrics of this process in the Prometheus format and as JSON, with the public server's names where it has them.
 * Gauges are read when scraped; only requests are counted as they happen.
 */
export class Metrics {
  readonly #registry = new Registry();
  readonly #dependencies: MetricsDependencies;
  readonly #requests: Counter<'method' | 'path' | 'status'>;
  readonly #latency: Histogram<'method' | 'path'>;
  readonly #gauges: { gauge: Gauge; of: (figures: LoadSnapshot) => number }[];

  constructor(dependencies: MetricsDependencies) {
    this.#dependencies = dependencies;
    const registers = [this.#registry];
    this.#requests = new Counter({
      name: 'lg_api_http_requests_total',
      help: 'Requests that were answered, by method, route and status.',
      labelNames: ['method', 'path', 'status'],
      registers,
    });
    this.#latency = new Histogram({
      name: 'lg_api_http_requests_latency_seconds',
      help: 'How long answers took to begin, by method and route.',
      labelNames: ['method', 'path'],
      buckets: durationBuckets,
      registers,
    });
    const gauge = (name: string, help: string, of: (figures: LoadSnapshot) => number) => ({
      gauge: new Gauge({ name, help, registers }),
      of,
    });
    this.#gauges = [
      gauge('lg_api_num_pending_runs', 'Pending runs of all processes.', ({ queue }) => queue.num_pending),
      gauge('lg_api_num_running_runs', 'Runs that are carried out, by all processes.', (of) => of.queue.num_running),
      gauge('lg_api_workers_max', 'How many runs this process can carry out at once.', ({ workers }) => workers.max),
      gauge('lg_api_workers_active', 'How many runs this process has in hand.', ({ workers }) => workers.active),
      gauge('lg_api_workers_available', 'How many runs it could take.', ({ workers }) => workers.available),
      gauge('lg_api_pg_pool_size', 'Connections to the database.', ({ database }) => database.connections),
      gauge('lg_api_pg_pool_available', 'Idle connections to the database.', ({ database }) => database.idle),
      gauge('lg_api_pg_requests_waiting', 'Statements that wait for a connection.', ({ database }) => database.waiting),
      gauge('process_resident_memory_bytes', 'Memory of this process.', () => process.memoryUsage.rss()),
      gauge('process_cpu_seconds_total', 'Processor time of this process.', cpuSeconds),
      gauge('process_uptime_seconds', 'How long this process has been running.', () => process.uptime()),
    ];
  }

  /** Counts requests by route, so that path parameters create no new series. */
  count(): MiddlewareHandler {
    return async (c, next) => {
      const started = steadyNow(this.#dependencies.clock);
      await next();
      const { method } = c.req;
      const path = routePath(c, -1);
      this.#requests.inc({ method, path, status: c.res.status });
      this.#latency.observe({ method, path }, (steadyNow(this.#dependencies.clock) - started) / 1000);
    };
  }

  async text(): Promise<{ body: string; type: string }> {
    const figures = await readLoadSnapshot(this.#dependencies);
    for (const { gauge, of } of this.#gauges) gauge.set(of(figures));
    return { body: await this.#registry.metrics(), type: this.#registry.contentType };
  }

  async json(): Promise<object> {
    const [figures, { values }] = [await readLoadSnapshot(this.#dependencies), await this.#requests.get()];
    const work = await readWork(this.#dependencies);
    const requests = values.map(({ labels, value }) => ({ ...labels, count: value }));
    return {
      ...figures,
      work,
      http: { requests },
      process: { memory_bytes: process.memoryUsage.rss(), cpu_seconds: cpuSeconds() },
    };
  }
}

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000_000;
}
