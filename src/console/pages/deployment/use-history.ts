import { useRef, useState } from 'preact/hooks';
import { revisionHistory, type HistoryEntry } from '../../../contract/control/revision-history.ts';
import { classOfRevisionStatus } from '../../../contract/control/revision-status.ts';
import { call } from '../../api/http.ts';
import { useLoaded } from '../../api/use-loaded.ts';
import { isInProgress, shortId } from '../../parts/revision-status.ts';
import { announce } from '../../parts/toasts.tsx';
import { statusLabel } from './revision-state.ts';

const step = 20;
const largestPage = 100;

export interface History {
  entries: readonly HistoryEntry[] | undefined;
  error: Error | undefined;
  /** Whether there are older ones that are not loaded. */
  hasMore: boolean;
  loadMore: () => Promise<void>;
  reload: () => Promise<void>;
}

/** The newest revisions of a deployment: loaded again often while one is in progress, and now and then otherwise. */
export function useHistory(deploymentId: string): History {
  const wanted = useRef(step);
  const inProgress = useRef<ReadonlySet<string>>(new Set());
  const [isBusy, setBusy] = useState(false);

  const load = async (signal: AbortSignal): Promise<{ entries: HistoryEntry[]; hasMore: boolean }> => {
    const most = wanted.current;
    const found = new Map<string, HistoryEntry>();
    let hasMore = true;
    for (let offset = 0; offset < most && hasMore; offset += largestPage) {
      const limit = Math.min(largestPage, most - offset);
      const query = { limit, offset };
      const path = `v2/deployments/${deploymentId}/revision-history`;
      const { resources } = await call('GET', path, revisionHistory, { query, signal });
      // A new revision shifts the others to later pages.
      for (const entry of resources) if (!found.has(entry.revision.id)) found.set(entry.revision.id, entry);
      hasMore = resources.length === limit;
    }
    const entries = [...found.values()];
    announceEnds(entries, inProgress.current);
    inProgress.current = new Set(
      entries.filter(({ revision }) => isInProgress(revision.status)).map(({ revision }) => revision.id),
    );
    setBusy(inProgress.current.size > 0);
    return { entries, hasMore };
  };

  const { data, error, reload } = useLoaded(deploymentId, load, { everyMs: isBusy ? 2_000 : 8_000 });
  return {
    entries: data?.entries,
    error,
    hasMore: data?.hasMore ?? false,
    reload,
    loadMore() {
      wanted.current += step;
      return reload();
    },
  };
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
