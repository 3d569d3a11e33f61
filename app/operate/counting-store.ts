import type { Intent } from '../work/intent.ts';
import type { ReportPut } from '../work/report.ts';
import type { WorkStore } from '../work/store.ts';
import type { AppMetrics } from './metrics.ts';

/** Intents remembered, so that each is counted once though it is stored many times. */
const remembered = 10_000;

/** The store, with what goes through it counted: revisions, ends, checks. Only what was stored counts. */
export function countingStore(
  store: WorkStore,
  metrics: Pick<AppMetrics, 'countRevision' | 'countEnd' | 'countCheck'>,
): WorkStore {
  const seen = new Set<string>();
  const once = (key: string, count: () => void): void => {
    if (seen.has(key)) return;
    const [oldest] = seen;
    if (seen.size >= remembered && oldest !== undefined) seen.delete(oldest);
    seen.add(key);
    count();
  };
  const noteIntent = ({ id, how, end }: Intent): void => {
    if (how !== undefined) once(`${id} ${how}`, () => metrics.countRevision(how));
    if (end !== undefined) once(`${id} ${end.kind}`, () => metrics.countEnd(end.kind));
  };
  const noteReport = ({ repository, headSha, name, wanted }: ReportPut): void => {
    if (wanted.kind !== 'check') return;
    const { conclusion } = wanted.content;
    if (conclusion === undefined) return;
    once(`${repository.repositoryId} ${headSha} ${name} ${conclusion}`, () => metrics.countCheck(conclusion));
  };
  return {
    ...store,
    save: async (lease, changes) => {
      await store.save(lease, changes);
      changes.intents?.forEach(noteIntent);
      changes.reports?.forEach(noteReport);
    },
    putReport: async (report) => {
      await store.putReport(report);
      noteReport(report);
    },
  };
}
