import { useEffect, useRef, useState } from 'preact/hooks';
import { isInProgress } from '../../parts/words.ts';
import { readLogKind, readLineId, logPagePath, logKinds, type LogKind } from './use-log.ts';
import { LogLines } from './log-lines.ts';
import { LogViewer } from './log-viewer.tsx';

interface LogsProps {
  deploymentId: string;
  revisionId: string;
  status: string;
  /** A log has new lines: the revision may have changed. */
  onNews: () => void;
  /** A log is complete: the revision has probably changed. */
  onEnd: () => void;
}

/** The default log: that of the current stage, or of the stage that failed. */
const likelyKind = (status: string): LogKind =>
  status === 'BUILD_FAILED' || status === 'CREATE_FAILED' || isInProgress(status) ? 'build' : 'deploy';

/** The build log and the agent log of a revision. The lines of both stay while the page is open. */
export function Logs({ deploymentId, revisionId, status, onNews, onEnd }: LogsProps) {
  const [kind, setKind] = useState<LogKind>(() => readLogKind() ?? likelyKind(status));
  const [linkedId, setLinkedId] = useState(readLineId);
  const logs = useRef({ build: new LogLines(), deploy: new LogLines() });
  const tabs = useRef<HTMLDivElement>(null);
  const { label } = logKinds.find((each) => each.kind === kind) ?? { label: '' };

  const show = (shown: LogKind): void => {
    setKind(shown);
    setLinkedId(undefined);
  };
  const choose = (chosen: LogKind): void => {
    show(chosen);
    // The URL has only a log that the reader selected. Otherwise a reload shows the default for the status.
    history.replaceState(null, '', logPagePath(chosen));
  };

  useEffect(() => {
    const onHash = (): void => setLinkedId(readLineId());
    window.addEventListener('hashchange', onHash);
    return () => window.removeEventListener('hashchange', onHash);
  }, []);

  // Show the agent log of a failed deploy, as its advice recommends.
  const lastStatus = useRef(status);
  useEffect(() => {
    const hasFailedNow = status === 'DEPLOY_FAILED' && lastStatus.current !== status;
    lastStatus.current = status;
    if (hasFailedNow && readLogKind() === undefined && readLineId() === undefined) show('deploy');
  }, [status]);

  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return;
    event.preventDefault();
    const other = kind === 'build' ? 'deploy' : 'build';
    choose(other);
    tabs.current?.querySelector<HTMLButtonElement>(`#log-tab-${other}`)?.focus();
  };

  return (
    <section class="panel revision-logs" aria-label="Logs">
      <div class="line revision-tabs" role="tablist" aria-label="Logs" ref={tabs} onKeyDown={onKeyDown}>
        {logKinds.map((each) => (
          <button
            key={each.kind}
            type="button"
            role="tab"
            id={`log-tab-${each.kind}`}
            aria-selected={each.kind === kind}
            aria-controls="log-panel"
            tabIndex={each.kind === kind ? 0 : -1}
            onClick={() => choose(each.kind)}
          >
            {each.label}
          </button>
        ))}
      </div>
      <div id="log-panel" role="tabpanel" aria-labelledby={`log-tab-${kind}`}>
        <LogViewer
          key={kind}
          source={{ deploymentId, revisionId, kind }}
          label={label}
          lines={logs.current[kind]}
          linkedId={linkedId}
          onNews={onNews}
          onEnd={onEnd}
        />
      </div>
    </section>
  );
}
