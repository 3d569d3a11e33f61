import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client';
import { systemClock } from '../../src/kit/clock.ts';
import type { JobCount } from '../../src/kit/postgres/queue-jobs.ts';
import { resolvesWithin, databaseTimeoutMs } from '../server/system-routes.ts';
import type { OctokitFor, OctokitLike } from '../github/installation-clients.ts';
import type { IntentFields } from '../reconcile/intent.ts';
import { PostgresStore, type PostgresStoreOptions } from '../reconcile/postgres-store.ts';
import type { DesiredReport } from '../reconcile/report.ts';
import type { Changes, Lease } from '../reconcile/store.ts';

/** Database queries behind the metrics, run on each scrape. */
export interface MetricsSource {
  /** Rejects while the database is down. */
  jobs: () => Promise<readonly JobCount[]>;
  /** When (ms since the epoch) the oldest open intent of each busy deployment queue was created. */
  queues: () => Promise<readonly number[]>;
  now: () => number;
}

/** Metrics for operators. They contain no names of repositories, people or deployments. */
export type AppMetrics = ReturnType<typeof createMetrics>;

/** Creates the metrics with their own registry. */
export function createMetrics() {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const counter = <Label extends string>(name: string, help: string, ...labelNames: readonly Label[]): Counter<Label> =>
    new Counter({ name, help, labelNames: [...labelNames], registers });
  const gauge = <Label extends string>(name: string, help: string, ...labelNames: readonly Label[]): Gauge<Label> =>
    new Gauge({ name, help, labelNames: [...labelNames], registers });

  const webhooks = counter('landfall_webhooks_total', 'Webhooks by event and answer.', 'event', 'result');
  const deliveries = counter(
    'landfall_deliveries_total',
    'Deliveries handled, by event and result.',
    'event',
    'result',
  );
  const requests = counter(
    'landfall_github_requests_total',
    'Requests to GitHub by kind and result.',
    'kind',
    'result',
  );
  const revisions = counter('landfall_revisions_total', 'Revisions triggered, adopted and found.', 'how');
  const ends = counter('landfall_intents_ended_total', 'Intents by how they ended.', 'end');
  const checks = counter('landfall_checks_total', 'Checks completed, by conclusion.', 'conclusion');
  const database = gauge('landfall_database_up', 'Whether the database answers.');
  const jobs = gauge('landfall_jobs', 'Jobs that wait, run or failed.', 'name', 'state');
  const queues = gauge('landfall_busy_lanes', 'Deployments with open work.');
  const oldest = gauge('landfall_oldest_lane_seconds', 'Age of the oldest open work, in seconds.');
  let source: MetricsSource | undefined;

  async function readSource({ jobs: askJobs, queues: readQueues, now }: MetricsSource): Promise<void> {
    const [counts, since] = await Promise.all([askJobs(), readQueues()]);
    jobs.reset();
    for (const { name, state, count } of counts) jobs.set({ name, state }, count);
    queues.set(since.length);
    oldest.set(since.length === 0 ? 0 : Math.max(0, now() - Math.min(...since)) / 1000);
  }

  return {
    contentType: registry.contentType,
    /** In Prometheus' text format. Never fails: a metric that cannot be read is left out. */
    async text(): Promise<string> {
      const current = source;
      if (current)
        database.set((await resolvesWithin(databaseTimeoutMs, () => readSource(current), systemClock)) ? 1 : 0);
      return registry.metrics();
    },
    /** Sets the source of the database metrics. */
    setSource(requested: MetricsSource): void {
      source = requested;
    },
    /** Counts a webhook; without an event if its signature is invalid. */
    countWebhook: (event: string | undefined, result: string) => webhooks.inc({ event: event ?? 'unproven', result }),
    countDelivery: (event: string, result: string) => deliveries.inc({ event, result }),
    countGithubRequest: (kind: string, result: string) => requests.inc({ kind, result }),
    countRevision: (how: string) => revisions.inc({ how }),
    countEnd: (end: string) => ends.inc({ end }),
    countCheck: (conclusion: string) => checks.inc({ conclusion }),
  };
}

/** Wraps Octokits to count their requests by route and result. */
export function countingOctokits(octokitFor: OctokitFor, metrics: Pick<AppMetrics, 'countGithubRequest'>): OctokitFor {
  return async (installationId) => {
    const octokit = await octokitFor(installationId);
    const request: OctokitLike['request'] = async (route, parameters) => {
      try {
        const answer = await octokit.request(route, parameters);
        metrics.countGithubRequest(route, String(answer.status));
        return answer;
      } catch (error) {
        metrics.countGithubRequest(route, resultOf(error));
        throw error;
      }
    };
    return { request };
  };
}

const resultOf = (error: unknown): string =>
  error instanceof Error && 'status' in error && typeof error.status === 'number' ? String(error.status) : 'no answer';

/** Where revisions, ends and checks are counted. */
type Counts = Pick<AppMetrics, 'countRevision' | 'countEnd' | 'countCheck'>;

/** How many counted keys are remembered, so that each counts once although it is stored many times. */
const maxCounted = 10_000;

/** Counts stored changes: revisions of the App, ended intents, completed checks. */
export function workCounts(counts: Counts) {
  const seen = new Set<string>();
  const countOnce = (key: string, count: () => void): void => {
    if (seen.has(key)) return;
    const [oldest] = seen;
    if (seen.size >= maxCounted && oldest !== undefined) seen.delete(oldest);
    seen.add(key);
    count();
  };
  return {
    intents: (intents: readonly IntentFields[] = []): void => {
      for (const { id, how, end } of intents) {
        if (how !== undefined) countOnce(`${id} ${how}`, () => counts.countRevision(how));
        if (end !== undefined) countOnce(`${id} ${end.kind}`, () => counts.countEnd(end.kind));
      }
    },
    reports: (reports: readonly DesiredReport[] = []): void => {
      for (const { repository, headSha, name, wanted } of reports) {
        const conclusion = wanted.kind === 'check' ? wanted.content.conclusion : undefined;
        if (conclusion === undefined) continue;
        countOnce(`${repository.repositoryId} ${headSha} ${name} ${conclusion}`, () => counts.countCheck(conclusion));
      }
    },
  };
}

/** A work store that counts what it stores. */
export class CountedStore extends PostgresStore {
  readonly #tally: ReturnType<typeof workCounts>;

  constructor(options: PostgresStoreOptions, counts: Counts) {
    super(options);
    this.#tally = workCounts(counts);
  }

  override async save(lease: Lease, changes: Changes): Promise<void> {
    await super.save(lease, changes);
    this.#tally.intents(changes.intents);
    this.#tally.reports(changes.reports);
  }

  override async putReport(report: DesiredReport, onlyAt?: number): Promise<void> {
    await super.putReport(report, onlyAt);
    this.#tally.reports([report]);
  }
}
