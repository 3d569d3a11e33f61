import { useEffect, useReducer } from 'preact/hooks';
import type { HistoryEntry } from '../../../contract/control/revision-history.ts';
import { TimeAgo } from '../../parts/time.tsx';
import { duration } from '../../parts/words.ts';
import { toStages } from './stages.ts';

/** Interval for updating the bars of a rollout in progress. */
const tickMs = 500;

/** The durations of the stages of a rollout, as bars on one scale and as text. */
export function Waterfall({ statuses }: { statuses: HistoryEntry['statuses'] }) {
  const [, tick] = useReducer((former: number) => former + 1, 0);
  const { stages, totalMs, isRunning } = toStages(statuses, Date.now());
  useEffect(() => {
    if (!isRunning) return;
    const timer = setInterval(() => tick(undefined), tickMs);
    return () => clearInterval(timer);
  }, [isRunning]);
  if (stages.length === 0) return null;
  const share = (ms: number): string => `${totalMs === 0 ? 0 : (ms / totalMs) * 100}%`;
  const liveAt = statuses.find(({ status }) => status === 'DEPLOYED')?.at;
  return (
    <section class="panel" aria-labelledby="revision-stages">
      <h2 id="revision-stages">
        Stages{' '}
        <span class="revision-total">
          {duration(totalMs)} {isRunning ? 'so far' : 'in all'}
        </span>
      </h2>
      <ol class="plain revision-stages">
        {stages.map(({ name, spans, totalMs: ms, isRunning: runs, isFailed }) => (
          <li key={name}>
            <span>{name}</span>
            <span class="track" aria-hidden="true">
              {spans.map(({ from, to }) => (
                <span
                  key={from}
                  class={`track-bar ${runs ? 'tone-busy' : isFailed ? 'tone-bad' : ''}`}
                  style={{ left: share(from), width: share(to - from) }}
                />
              ))}
            </span>
            <span class="figure muted">
              {duration(ms)}
              {runs && ' so far'}
              {isFailed && <span class="failed"> failed</span>}
            </span>
          </li>
        ))}
        {liveAt !== undefined && (
          <li>
            <span>Live</span>
            <span class="track" aria-hidden="true">
              <span class="revision-live-mark" />
            </span>
            <span class="figure muted">
              <TimeAgo at={liveAt} />
            </span>
          </li>
        )}
      </ol>
    </section>
  );
}
