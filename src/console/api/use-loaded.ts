import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { toError } from '../../kit/errors.ts';
import { LatestAttempt } from './latest-attempt.ts';

/** The polling interval (ms), which may depend on the data; no polling if undefined. */
export type Interval<T> = number | undefined | ((data: T | undefined) => number | undefined);

/** The latest data, and the error of the last attempt. */
export interface Loaded<T> {
  data: T | undefined;
  error: Error | undefined;
  /** Loads again now; resolves when done. */
  reload: () => Promise<void>;
  /** Loads again if the page is visible, and the last attempt has ended and started at least `ms` milliseconds ago. */
  poll: (ms: number) => void;
}

/**
 * Loads data for a component, again whenever `key` changes, and every `everyMs` while the page is visible. A failed
 * reload keeps the previous data and adds the error.
 */
export function useLoaded<T>(
  key: string,
  load: (signal: AbortSignal) => Promise<T>,
  { everyMs }: { everyMs?: Interval<T> } = {},
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

  // Never show data of another key.
  const current = state.key === key ? state : { key };
  const ms = typeof everyMs === 'function' ? everyMs(current.data) : everyMs;

  // A separate effect, so that a new interval alone does not load again.
  useEffect(() => {
    const timer = ms === undefined ? undefined : setInterval(() => poll(0), ms);
    return () => clearInterval(timer);
  }, [poll, ms]);
  return { data: current.data, error: current.error, reload, poll };
}
