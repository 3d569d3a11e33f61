import { useEffect, useRef, useState } from 'preact/hooks';
import { isInProgress } from '../../parts/revision-status.ts';
import { LogLines } from './log-lines.ts';
import { LogViewer } from './log-viewer.tsx';
import type { LogKind } from './use-log.ts';

interface LogsProps {
  deploymentId: string;
  revisionId: string;
  status: string;
  /** A log is complete: the revision has probably changed. */
  onEnd: () => void;
}

const kinds: readonly { kind: LogKind; label: string; inAddress: string }[] = [
  { kind: 'build', label: 'Build log', inAddress: 'build' },
  { kind: 'deploy', label: 'Agent log', inAddress: 'agent' },
];

/** The default log: that of the current stage, or of the stage that failed. */
const likelyKind = (status: string): LogKind =>
  status === 'BUILD_FAILED' || status === 'CREATE_FAILED' || isInProgress(status) ? 'build' : 'deploy';

const kindInAddress = (): LogKind | undefined => {
  const word = new URLSearchParams(location.search).get('log');
  return kinds.find(({ inAddress }) => inAddress === word)?.kind;
};
const lineInAddress = (): string | undefined => /^#L(\d+)$/.exec(location.hash)?.[1];

/** The build log and the agent log of a revision. The lines of both stay while the page is open. */
export function Logs({ deploymentId, revisionId, status, onEnd }: LogsProps) {
  const [kind, setKind] = useState<LogKind>(() => kindInAddress() ?? likelyKind(status));
  const [linkedId, setLinkedId] = useState(lineInAddress);
  const logs = useRef({ build: new LogLines(), deploy: new LogLines() });
  const tabs = useRef<HTMLDivElement>(null);
  /** Whether the person decided what to read: a log, or a line of it. */
  const isChosen = useRef(linkedId !== undefined);
  const { label } = kinds.find((each) => each.kind === kind) ?? kinds[0] ?? { label: '' };

  const choose = (chosen: LogKind): void => {
    isChosen.current = true;
    show(chosen);
  };
  const show = (chosen: LogKind): void => {
    setKind(chosen);
    setLinkedId(undefined);
    const word = kinds.find((each) => each.kind === chosen)?.inAddress ?? '';
    history.replaceState(null, '', `${location.pathname}?log=${word}`);
  };

  // The kind is in every link to a line, so it has to be in the address.
  useEffect(() => {
    if (kindInAddress() === undefined) {
      const word = kinds.find((each) => each.kind === kind)?.inAddress ?? '';
      history.replaceState(null, '', `${location.pathname}?log=${word}${location.hash}`);
    }
    const onHash = (): void => setLinkedId(lineInAddress());
    window.addEventListener('hashchange', onHash);
    return () => window.removeEventListener('hashchange', onHash);
  }, []);

  // The advice of a failed deploy is to read the agent log.
  const lastStatus = useRef(status);
  useEffect(() => {
    const hasFailedNow = status === 'DEPLOY_FAILED' && lastStatus.current !== status;
    lastStatus.current = status;
    if (hasFailedNow && !isChosen.current && lineInAddress() === undefined) show('deploy');
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
      <div class="revision-tabs" role="tablist" aria-label="Logs" ref={tabs} onKeyDown={onKeyDown}>
        {kinds.map((each) => (
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
          onEnd={onEnd}
        />
      </div>
    </section>
  );
}
