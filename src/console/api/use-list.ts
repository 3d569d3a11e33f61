import { useRef, useState } from 'preact/hooks';
import { useLoaded } from './use-loaded.ts';
import { useLocation } from 'preact-iso';

interface Page {
  limit: number;
  offset: number;
}

/** The entries of a list that have been loaded so far. */
export interface LoadedList<Entry> {
  entries: readonly Entry[] | undefined;
  error: Error | undefined;
  /** Whether there may be more. */
  hasMore: boolean;
  isBusy: boolean;
  loadMore: () => Promise<void>;
  reload: () => Promise<void>;
}

const defaultPageSize = 25;
/** The most pages of a list, all of which are loaded again at each poll. */
const mostPages = 20;

/**
 * Loads a list page by page, and polls all loaded pages every `everyMs` (less often if they are many). A page shorter than
 * the limit is the last one. An entry that moved to the next page between two requests appears once.
 */
export function useList<Entry>(
  key: string,
  idOf: (entry: Entry) => string,
  loadPage: (page: Page, signal: AbortSignal) => Promise<readonly Entry[]>,
  { everyMs, pageSize = defaultPageSize }: { everyMs?: number | undefined; pageSize?: number } = {},
): LoadedList<Entry> {
  const wanted = useRef({ key, pages: 1 });
  if (wanted.current.key !== key) wanted.current = { key, pages: 1 };
  const [isBusy, setBusy] = useState(false);
  const { data, error, reload } = useLoaded(
    key,
    async (signal) => {
      const entries = new Map<string, Entry>();
      const { pages } = wanted.current;
      for (let page = 0; page < pages; page += 1) {
        const found = await loadPage({ limit: pageSize, offset: page * pageSize }, signal);
        for (const entry of found) entries.set(idOf(entry), entry);
        if (found.length < pageSize) return { entries: [...entries.values()], hasMore: false };
      }
      return { entries: [...entries.values()], hasMore: pages < mostPages };
    },
    // The more pages there are to load again, the less often.
    { everyMs: everyMs && everyMs * Math.ceil(wanted.current.pages / 4) },
  );
  const loadMore = async (): Promise<void> => {
    if (isBusy) return;
    wanted.current.pages += 1;
    setBusy(true);
    await reload();
    setBusy(false);
  };
  return { entries: data?.entries, hasMore: data?.hasMore ?? false, error, isBusy, loadMore, reload };
}

type Query = Readonly<Record<string, string | undefined>>;

/** The query of the page's address, and a function that changes some of it; an empty value leaves the address. */
export function useAddressQuery(): [query: Query, change: (changes: Query) => void] {
  const { path, query, route } = useLocation();
  const change = (changes: Query): void => {
    const entries = Object.entries({ ...query, ...changes }).flatMap(([name, value]) => (value ? [[name, value]] : []));
    const text = new URLSearchParams(entries).toString();
    route(text === '' ? path : `${path}?${text}`, true);
  };
  return [query, change];
}
