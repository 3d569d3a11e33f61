import type { Intent } from '../reconcile/intent.ts';
import { PostgresStore, type PostgresStoreOptions } from '../reconcile/postgres-store.ts';
import type { ReportPut } from '../reconcile/report.ts';
import type { Changes, Lease } from '../reconcile/store.ts';
import type { AppMetrics } from './metrics.ts';

/** Where revisions, ends and checks are counted. */
export type Counts = Pick<AppMetrics, 'countRevision' | 'countEnd' | 'countCheck'>;

/** What was counted, so that each counts once in this process though it is stored many times. */
const remembered = 10_000;

/** Counts what was stored: revisions that are ours, ends of intents, checks that are completed. */
export function workTally(counts: Counts): {
  intents: (intents: readonly Intent[] | undefined) => void;
  reports: (reports: readonly ReportPut[] | undefined) => void;
} {
  const seen = new Set<string>();
  const once = (key: string, count: () => void): void => {
    if (seen.has(key)) return;
    const [oldest] = seen;
    if (seen.size >= remembered && oldest !== undefined) seen.delete(oldest);
    seen.add(key);
    count();
  };
  return {
    intents: (intents = []) => {
      for (const { id, how, end } of intents) {
        if (how !== undefined) once(`${id} ${how}`, () => counts.countRevision(how));
        if (end !== undefined) once(`${id} ${end.kind}`, () => counts.countEnd(end.kind));
      }
    },
    reports: (reports = []) => {
      for (const { repository, headSha, name, wanted } of reports) {
        const conclusion = wanted.kind === 'check' ? wanted.content.conclusion : undefined;
        if (conclusion === undefined) continue;
        once(`${repository.repositoryId} ${headSha} ${name} ${conclusion}`, () => counts.countCheck(conclusion));
      }
    },
  };
}

/** A work store that counts what it stores. */
export class CountedStore extends PostgresStore {
  readonly #tally: ReturnType<typeof workTally>;

  constructor(options: PostgresStoreOptions, counts: Counts) {
    super(options);
    this.#tally = workTally(counts);
  }

  override async save(lease: Lease, changes: Changes): Promise<void> {
    await super.save(lease, changes);
    this.#tally.intents(changes.intents);
    this.#tally.reports(changes.reports);
  }

  override async putReport(report: ReportPut, onlyAt?: number): Promise<void> {
    await super.putReport(report, onlyAt);
    this.#tally.reports([report]);
  }
}
