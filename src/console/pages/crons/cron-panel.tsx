import type { Cron, CronRun } from '../../../contract/agent/cron.ts';
import { useAction } from '../../api/use-form.ts';
import { useLoaded } from '../../api/use-loaded.ts';
import { Badge, RunBadge } from '../../parts/badge.tsx';
import { JsonView } from '../../parts/json-view.tsx';
import { TimeAgo } from '../../parts/time.tsx';
import { announce } from '../../parts/toasts.tsx';
import { errorText, shortId } from '../../parts/words.ts';
import { IdLink, Untrusted, shownText } from '../../parts/untrusted.tsx';
import { paths } from '../../paths.ts';
import { enableCron, getCronTimes } from './crons-api.ts';
import { timeIn } from './next-firings.ts';
import { Button } from '../../parts/button.tsx';
import { Fact } from '../../parts/table.tsx';

interface CronPanelProps {
  deploymentId: string;
  cron: Cron;
  assistantName: string;
  reload: () => Promise<void>;
  onDelete: () => void;
}

/** A cron with its next runs, its last runs and its actions. */
export function CronPanel({ deploymentId, cron, assistantName, reload, onDelete }: CronPanelProps) {
  const { cron_id, schedule, timezone, enabled, assistant_id, thread_id, end_time, next_run_date, payload } = cron;
  const [isBusy, run] = useAction();
  const times = useLoaded(`${cron_id} ${next_run_date}`, (signal) => getCronTimes(deploymentId, cron_id, signal), {
    everyMs: 15_000,
  });
  const toggle = (): Promise<void> =>
    run(async () => {
      await enableCron(deploymentId, cron_id, enabled === false);
      announce(enabled === false ? 'The cron is resumed.' : 'The cron is paused.');
      await reload();
    });
  const name = shownText(schedule, 60);
  const next = times.data?.next ?? (next_run_date == null ? [] : [next_run_date]);
  return (
    <section class="panel" aria-label={`Cron ${name}`}>
      <div class="row head">
        <h2>
          <bdi class="mono">{name}</bdi> <span class="muted cron-zone">{shownText(timezone ?? 'UTC', 60)}</span>
        </h2>
        {enabled === false ? <Badge tone="idle">Paused</Badge> : <Badge tone="good">Active</Badge>}
        <div class="actions end">
          <Button
            label={`${enabled === false ? 'Resume' : 'Pause'} the cron ${name}`}
            aria-disabled={isBusy}
            onClick={() => void toggle()}
          >
            {enabled === false ? 'Resume' : 'Pause'}
          </Button>
          <Button kind="danger" label={`Delete the cron ${name}`} onClick={onDelete}>
            Delete
          </Button>
        </div>
      </div>
      <dl class="facts cron-facts">
        <Fact name="Assistant">
          <a href={paths.assistant(deploymentId, assistant_id ?? '')}>
            <Untrusted text={assistantName} longest={100} />
          </a>
        </Fact>
        <Fact name="Thread">
          {thread_id == null ? (
            'a new one each time'
          ) : (
            <a class="mono" href={paths.thread(deploymentId, { thread: thread_id })}>
              {shownText(shortId(thread_id))}
            </a>
          )}
        </Fact>
        {end_time != null && (
          <Fact name="Ends">
            <TimeAgo at={end_time} />
          </Fact>
        )}
      </dl>
      <div class="cron-times">
        <div>
          <h3>Next runs</h3>
          {next.length === 0 ? (
            <p class="muted">{enabled === false ? 'None while it is paused.' : 'None: its end has passed.'}</p>
          ) : (
            <ol class="plain">
              {next.map((at) => (
                <li key={at}>
                  <TimeAgo at={at} /> <span class="muted">{timeIn(timezone, Date.parse(at))}</span>
                </li>
              ))}
            </ol>
          )}
        </div>
        <div>
          <h3>Last runs</h3>
          {times.error && !times.data && <p class="field-error">{times.error.message}</p>}
          {times.data && <LastRuns deploymentId={deploymentId} runs={times.data.runs} />}
        </div>
      </div>
      <JsonView name="Input" value={payload?.['input'] ?? null} />
    </section>
  );
}

function LastRuns({ deploymentId, runs }: { deploymentId: string; runs: readonly CronRun[] }) {
  if (runs.length === 0) return <p class="muted">None so far.</p>;
  return (
    <ol class="plain">
      {runs.map(({ run_id, status, error, created_at }) => (
        <li key={run_id}>
          <RunBadge status={status} /> <IdLink to={paths.run} deploymentId={deploymentId} id={run_id} />{' '}
          <TimeAgo at={created_at} />
          {error && (
            <div class="field-error">
              <Untrusted text={errorText(error)} longest={300} />
            </div>
          )}
        </li>
      ))}
    </ol>
  );
}
