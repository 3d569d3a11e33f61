import { useEffect, useRef, useState } from 'preact/hooks';
import { logPage } from '../../../contract/control/log.ts';
import { ApiError, call, send } from '../../api/http.ts';
import { followLog, pageSize, type FollowState } from './follow-log.ts';
import { LogLines } from './log-lines.ts';
import { copyText } from '../../parts/copy-button.tsx';
import { toLogLine, type LogLine } from './log-line.ts';

export type LogKind = 'build' | 'deploy';

/** The log to read. */
export interface LogSource {
  deploymentId: string;
  revisionId: string;
  kind: LogKind;
}

const logPath = ({ deploymentId, revisionId }: LogSource): string =>
  `v2/deployments/${deploymentId}/revisions/${revisionId}/logs`;

/** The state of a log that is followed. */
export interface FollowedLines {
  state: FollowState;
  /** Starts again after a failure. */
  retry: () => void;
}

export interface LogHandlers {
  /** Called when the log has new lines, which is often. */
  onNews: () => void;
  /** Called when the log is complete. */
  onEnd: () => void;
}

/** Follows a log for as long as the component is shown. Renders at most once per frame. */
export function useLog(source: LogSource, lines: LogLines, handlers: LogHandlers): FollowedLines {
  const { deploymentId, revisionId, kind } = source;
  const [state, setState] = useState<FollowState>({ kind: 'loading' });
  const [, redraw] = useState(0);
  const [attempt, setAttempt] = useState(0);
  const latest = useRef(handlers);
  latest.current = handlers;

  useEffect(() => {
    const closing = new AbortController();
    let frame = 0;
    const show = (): void => {
      frame ||= requestAnimationFrame(() => {
        frame = 0;
        redraw((former) => former + 1);
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
      closing.signal,
    );
    return () => {
      closing.abort();
      cancelAnimationFrame(frame);
    };
  }, [deploymentId, revisionId, kind, lines, attempt]);

  return { state, retry: () => setAttempt(attempt + 1) };
}

/** Waits for a time, or until the browser is online again. */
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

/** The logs of a revision, with their values of the query parameter `log`. */
export const logKinds: readonly { kind: LogKind; label: string; queryValue: string }[] = [
  { kind: 'build', label: 'Build log', queryValue: 'build' },
  { kind: 'deploy', label: 'Agent log', queryValue: 'agent' },
];

/** Reads the log that is selected by the URL of the page. */
export const readLogKind = (): LogKind | undefined => {
  const word = new URLSearchParams(location.search).get('log');
  return logKinds.find(({ queryValue }) => queryValue === word)?.kind;
};

/** Reads the id of the line that is selected by the URL of the page. */
export const readLineId = (): string | undefined => /^#L(\d+)$/.exec(location.hash)?.[1];

/** The path to a log, or to a line of it. */
export function logPagePath(kind: LogKind, lineId?: string): string {
  const word = logKinds.find((each) => each.kind === kind)?.queryValue ?? '';
  return `${location.pathname}?log=${word}${lineId === undefined ? '' : `#L${lineId}`}`;
}

const textOf = ({ at, level, raw }: LogLine): string =>
  `${Number.isNaN(at) ? '' : `${new Date(at).toISOString()} `}${level.padEnd(7)} ${raw}\n`;

/** Downloads all lines that the service has as a text file. @throws ApiError */
export async function downloadLog(source: LogSource): Promise<void> {
  const parts: string[] = [];
  let offset: string | undefined;
  for (;;) {
    const { logs, next_offset: next } = await call('GET', logPath(source), logPage, {
      query: { kind: source.kind, order: 'asc', limit: pageSize, offset },
    });
    parts.push(
      logs
        .map((entry) => toLogLine(entry))
        .flatMap((line) => (line ? textOf(line) : []))
        .join(''),
    );
    if (logs.length < pageSize || typeof next !== 'string') break;
    offset = next;
  }
  const url = URL.createObjectURL(new Blob(parts, { type: 'text/plain' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = `${source.kind === 'build' ? 'build' : 'agent'}-${source.revisionId.slice(0, 8)}.log`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** Copies lines to the clipboard. */
export function copyLines(numbers: readonly number[], lines: LogLines): void {
  const text = numbers
    .flatMap((number) => lines.line(number) ?? [])
    .map((line) => textOf(line))
    .join('');
  void copyText(text, `Copied ${numbers.length.toLocaleString('en')} lines.`);
}
