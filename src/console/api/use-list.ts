import { useLocation } from 'preact-iso';
import { useRef, useState } from 'preact/hooks';
import { useLoaded, type Interval } from './use-loaded.ts';

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

interface ListOptions<Entry> {
  everyMs?: Interval<readonly Entry[]>;
  /** The number of entries at first, and of those that each `loadMore` adds. */
  pageSize?: number;
  /** The maximum number of entries in one request. */
  maxLimit?: number;
  /** The maximum number of pages. Each poll loads all of them again. */
  maxPages?: number;
}

/**
 * Loads a list page by page, and polls all loaded pages every `everyMs` (less often if they are many). A page shorter
 * than the limit is the last one. `last` is the entry before a page, for lists with a cursor. Duplicates are removed,
 * because an entry may move to the next page between two requests.
 */
export function useList<Entry>(
  key: string,
  idOf: (entry: Entry) => string,
  loadPage: (page: Page, signal: AbortSignal, last: Entry | undefined) => Promise<readonly Entry[]>,
  { everyMs, pageSize = 25, maxLimit = pageSize, maxPages = 20 }: ListOptions<Entry> = {},
): LoadedList<Entry> {
  const requested = useRef({ key, pages: 1 });
  if (requested.current.key !== key) requested.current = { key, pages: 1 };
  const [isBusy, setBusy] = useState(false);
  const { data, error, reload } = useLoaded(
    key,
    async (signal) => {
      const found = new Map<string, Entry>();
      const { pages } = requested.current;
      let hasMore = true;
      for (let offset = 0, last: Entry | undefined; offset < pages * pageSize && hasMore; offset += maxLimit) {
        const limit = Math.min(maxLimit, pages * pageSize - offset);
        const page = await loadPage({ limit, offset }, signal, last);
        for (const entry of page) found.set(idOf(entry), entry);
        last = page.at(-1);
        hasMore = page.length === limit;
      }
      return { entries: [...found.values()], hasMore: hasMore && pages < maxPages };
    },
    {
      everyMs: (loaded) => {
        const ms = typeof everyMs === 'function' ? everyMs(loaded?.entries) : everyMs;
        return ms && ms * Math.ceil(requested.current.pages / 4);
      },
    },
  );
  const loadMore = async (): Promise<void> => {
    if (isBusy) return;
    requested.current.pages += 1;
    setBusy(true);
    await reload();
    setBusy(false);
  };
  return { entries: data?.entries, hasMore: data?.hasMore ?? false, error, isBusy, loadMore, reload };
}

type Query = Readonly<Record<string, string | undefined>>;

/** The query of the page's address, and a function that changes parts of it; an empty value removes the parameter. */
export function useAddressQuery(): [query: Query, change: (changes: Query) => void] {
  const { path, query, route } = useLocation();
  const change = (changes: Query): void => {
    const entries = Object.entries({ ...query, ...changes }).flatMap(([name, value]) => (value ? [[name, value]] : []));
    const text = new URLSearchParams(entries).toString();
    route(text === '' ? path : `${path}?${text}`, true);
  };
  return [query, change];
}
