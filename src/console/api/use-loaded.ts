import { useCallback, useEffect, useRef, useState } from 'preact/hooks';

/** What was loaded last, and what became of the last attempt. */
export interface Loaded<T> {
  data: T | undefined;
  error: Error | undefined;
  /** Loads again now; resolves when that has ended. */
  reload: () => Promise<void>;
}

/**
 * Loads data for a component, again whenever `key` changes, and every `everyMs` while the page is visible. Data of a
 * failed reload stays, beside the error.
 */
export function useLoaded<T>(
  key: string,
  load: (signal: AbortSignal) => Promise<T>,
  { everyMs }: { everyMs?: number | undefined } = {},
): Loaded<T> {
  const [state, setState] = useState<{ key: string; data?: T; error?: Error }>({ key });
  const latest = useRef(load);
  latest.current = load;
  const running = useRef<AbortController | undefined>(undefined);

  const reload = useCallback(async () => {
    running.current?.abort();
    const attempt = new AbortController();
    running.current = attempt;
    try {
      const data = await latest.current(attempt.signal);
      if (!attempt.signal.aborted) setState({ key, data });
    } catch (error) {
      if (attempt.signal.aborted) return;
      const reason = error instanceof Error ? error : new Error(String(error));
      setState((former) => ({ ...(former.key === key ? former : { key }), error: reason }));
    }
  }, [key]);

  useEffect(() => {
    void reload();
    const timer =
      everyMs === undefined
        ? undefined
        : setInterval(() => document.visibilityState === 'visible' && void reload(), everyMs);
    return () => {
      clearInterval(timer);
      running.current?.abort();
    };
  }, [reload, everyMs]);

  // Data of another key must not be shown as this one's.
  const current = state.key === key ? state : { key };
  return { data: current.data, error: current.error, reload };
}
