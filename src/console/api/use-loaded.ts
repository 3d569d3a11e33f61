import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { toError } from '../../kit/errors.ts';
import { LatestAttempt } from './latest-attempt.ts';

/** The latest data, and the error of the last attempt. */
export interface Loaded<T> {
  data: T | undefined;
  error: Error | undefined;
  /** Loads again now; resolves when that has ended. */
  reload: () => Promise<void>;
  /** Loads again where the page is visible and the last attempt has ended and began at least `ms` milliseconds ago. */
  poll: (ms: number) => void;
}

/**
 * Loads data for a component, again whenever `key` changes, and every `everyMs` while the page is visible. After a
 * failed reload, the former data stays beside the error.
 */
export function useLoaded<T>(
  key: string,
  load: (signal: AbortSignal) => Promise<T>,
  { everyMs }: { everyMs?: number | undefined } = {},
): Loaded<T> {
  const [state, setState] = useState<{ key: string; data?: T; error?: Error }>({ key });
  const latest = useRef(load);
  latest.current = load;
  const [attempt] = useState(() => new LatestAttempt());

  const reload = useCallback(async () => {
    const outcome = await attempt.run(async (signal) => latest.current(signal), Date.now());
    if (!outcome) return;
    if ('data' in outcome) setState({ key, data: outcome.data });
    else setState((former) => ({ ...(former.key === key ? former : { key }), error: toError(outcome.error) }));
  }, [attempt, key]);

  const poll = useCallback(
    (ms: number) => {
      if (document.visibilityState === 'visible' && attempt.isDue(Date.now(), ms)) void reload();
    },
    [attempt, reload],
  );

  useEffect(() => {
    void reload();
    return () => attempt.end();
  }, [attempt, reload]);

  // On its own: another interval is no reason to load again.
  useEffect(() => {
    const timer = everyMs === undefined ? undefined : setInterval(() => poll(0), everyMs);
    return () => clearInterval(timer);
  }, [poll, everyMs]);

  // Data of another key must not be shown as this one's.
  const current = state.key === key ? state : { key };
  return { data: current.data, error: current.error, reload, poll };
}
