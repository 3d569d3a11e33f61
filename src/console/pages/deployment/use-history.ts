import { useEffect, useRef } from 'preact/hooks';
import { revisionHistory, type HistoryEntry } from '../../../contract/control/revision-history.ts';
import { classOfRevisionStatus } from '../../../contract/control/revision-status.ts';
import { call } from '../../api/http.ts';
import { useList, type LoadedList } from '../../api/use-list.ts';
import { isInProgress, shortId } from '../../parts/revision-status.ts';
import { announce } from '../../parts/toasts.tsx';
import { statusLabel } from './revision-state.ts';

const isRunning = ({ revision }: HistoryEntry): boolean => isInProgress(revision.status);

/** The newest revisions of a deployment: loaded again often while one is in progress, and now and then otherwise. */
export function useHistory(deploymentId: string): LoadedList<HistoryEntry> {
  const list = useList(
    deploymentId,
    ({ revision }: HistoryEntry) => revision.id,
    async ({ limit, offset }, signal) => {
      const path = `v2/deployments/${deploymentId}/revision-history`;
      return (await call('GET', path, revisionHistory, { query: { limit, offset }, signal })).resources;
    },
    {
      everyMs: (entries = []) => (entries.some(isRunning) ? 2_000 : 8_000),
      pageSize: 20,
      maxLimit: 100,
      maxPages: Infinity,
    },
  );
  const inProgress = useRef<ReadonlySet<string>>(new Set());
  useEffect(() => {
    const entries = list.entries ?? [];
    announceEnds(entries, inProgress.current);
    inProgress.current = new Set(entries.filter(isRunning).map(({ revision }) => revision.id));
  }, [list.entries]);
  return list;
}

/** Says how revisions ended that were in progress before. */
function announceEnds(entries: readonly HistoryEntry[], before: ReadonlySet<string>): void {
  for (const entry of entries) {
    const { revision } = entry;
    if (!before.has(revision.id) || isInProgress(revision.status)) continue;
    const isGood = classOfRevisionStatus(revision.status) === 'live';
    announce(
      isGood
        ? `Revision ${shortId(revision.id)} is live.`
        : `Revision ${shortId(revision.id)} ended: ${statusLabel(entry).toLowerCase()}.`,
      classOfRevisionStatus(revision.status) === 'failed' ? 'failed' : 'done',
    );
  }
}
