import { useEffect, useRef, useState } from 'preact/hooks';
import { logPage } from '../../../contract/control/log.ts';
import { ApiError, call, send } from '../../api/http.ts';
import { followLog, pageSize, type FollowState } from './follow-log.ts';
import { LogLines } from './log-lines.ts';

export type LogKind = 'build' | 'deploy';

/** The log to read. */
export interface LogSource {
  deploymentId: string;
  revisionId: string;
  kind: LogKind;
}

export const logPath = ({ deploymentId, revisionId }: LogSource): string =>
  `v2/deployments/${deploymentId}/revisions/${revisionId}/logs`;

/** A log as it stands. `version` changes with its lines. */
export interface FollowedLines {
  lines: LogLines;
  state: FollowState;
  version: number;
  /** Starts again after a failure. */
  retry: () => void;
}

export interface LogHandlers {
  /** The log has new lines. Called often while it is written. */
  onNews: () => void;
  /** The log is complete. */
  onEnd: () => void;
}

/** Follows a log for as long as the component is shown. Renders at most once per frame. */
export function useLog(source: LogSource, lines: LogLines, handlers: LogHandlers): FollowedLines {
  const { deploymentId, revisionId, kind } = source;
  const [state, setState] = useState<FollowState>({ kind: 'loading' });
  const [version, setVersion] = useState(0);
  const [attempt, setAttempt] = useState(0);
  const latest = useRef(handlers);
  latest.current = handlers;

  useEffect(() => {
    const left = new AbortController();
    let frame = 0;
    const show = (): void => {
      frame ||= requestAnimationFrame(() => {
        frame = 0;
        setVersion((former) => former + 1);
      });
    };
    const path = logPath({ deploymentId, revisionId, kind });
    void followLog(
      {
        lastId: () => lines.lastId,
        readPage: (after, signal) =>
          call('GET', path, logPage, { query: { kind, order: 'asc', limit: pageSize, offset: after }, signal }),
        async openStream(after, signal) {
          const response = await send('GET', `${path}/stream`, {
            query: { kind },
            headers: after === undefined ? {} : { 'Last-Event-ID': after },
            signal,
          });
          return response.status === 204 || !response.body ? undefined : response.body;
        },
        isFinal: (error) => error instanceof ApiError && [401, 403, 404, 422].includes(error.status),
        wait,
        onLines(entries) {
          lines.append(entries);
          show();
          latest.current.onNews();
        },
        onState(next) {
          setState(next);
          if (next.kind === 'complete') latest.current.onEnd();
        },
      },
      left.signal,
    );
    return () => {
      left.abort();
      cancelAnimationFrame(frame);
    };
  }, [deploymentId, revisionId, kind, lines, attempt]);

  return { lines, state, version, retry: () => setAttempt(attempt + 1) };
}

/** Waits; less long where the browser is online again. */
const wait = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      window.removeEventListener('online', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
    window.addEventListener('online', done);
  });
