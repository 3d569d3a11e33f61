import { useEffect, useRef, useState } from 'preact/hooks';
import { Badge } from '../../parts/badge.tsx';
import type { FollowState } from './follow-log.ts';
import { Button } from '../../parts/button.tsx';

interface LogStatusProps {
  state: FollowState;
  count: number;
  shown: number;
  retry: () => void;
}

/** How often the number of lines is announced to screen readers (ms). */
const announceEveryMs = 10_000;

/** The state of reading a log, and the number of its lines. */
export function LogStatus({ state, count, shown, retry }: LogStatusProps) {
  const countText = `${count.toLocaleString('en')} ${count === 1 ? 'line' : 'lines'}`;
  const latest = useRef(countText);
  latest.current = countText;
  const [announced, setAnnounced] = useState('');
  useEffect(() => {
    setAnnounced(latest.current);
    const timer = setInterval(() => setAnnounced(latest.current), announceEveryMs);
    return () => clearInterval(timer);
  }, [state.kind]);
  return (
    <div class="row muted log-status">
      <span role="status">
        <StateBadge state={state} />
        <span class="visually-hidden"> {announced}</span>
      </span>
      <span aria-hidden="true" data-testid="log-count">
        {countText}
        {shown !== count && `, ${shown.toLocaleString('en')} shown`}
      </span>
      {(state.kind === 'failed' || state.kind === 'reconnecting') && <span>{state.reason}</span>}
      {state.kind === 'failed' && <Button onClick={retry}>Try again</Button>}
      {count === 0 && state.kind === 'live' && <span>Lines appear here as soon as they are written.</span>}
      {count === 0 && state.kind === 'complete' && <span>Nothing was written to this log.</span>}
    </div>
  );
}

function StateBadge({ state }: { state: FollowState }) {
  switch (state.kind) {
    case 'loading':
      return <Badge tone="busy">Loading</Badge>;
    case 'live':
      return <Badge tone="idle">Connected</Badge>;
    case 'reconnecting':
      return <Badge tone="warn">Reconnecting</Badge>;
    case 'complete':
      return <Badge tone="idle">Complete</Badge>;
    case 'failed':
      return <Badge tone="bad">Not loaded</Badge>;
  }
}
