import { finalRunStatuses, type RunError } from '../../../contract/agent/run.ts';
import { useAction } from '../../api/use-form.ts';
import { paths } from '../../paths.ts';
import { Badge, runStatus } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { TimeAgo } from '../../parts/time.tsx';
import { shownText } from '../../parts/untrusted.tsx';
import type { ThreadSession } from './thread-session.ts';
import { useState } from 'preact/hooks';
import { logPage } from '../../../contract/control/log.ts';
import { call } from '../../api/http.ts';
import { useLoaded } from '../../api/use-loaded.ts';
import { isPlainError } from '../../parts/words.ts';
import { stackIn } from './run-view.ts';

interface RunBarProps {
  session: ThreadSession;
  deploymentId: string;
  assistantId: string;
  context: Record<string, unknown> | undefined;
}

/** The status and the error of the shown run, with its actions. */
export function RunBar({ session, deploymentId, assistantId, context }: RunBarProps) {
  const [isBusy, act] = useAction();
  const run = session.run.value;
  if (!run) return null;
  const isFollowing = session.isFollowing.value;
  const isStopped = run.status === 'success' || run.status === 'interrupted';
  const isWaiting =
    !isFollowing && isStopped && !session.failure.value && session.thread.value?.status === 'interrupted';
  const status = isFollowing && run.status === 'pending' ? 'running' : run.status;
  const { label, tone } = isWaiting ? { label: 'Waiting for you', tone: 'warn' as const } : runStatus(status);
  const failure = session.failure.value;
  const canContinue =
    !isFollowing &&
    !isWaiting &&
    (session.states.value[0]?.next.length ?? 0) > 0 &&
    finalRunStatuses.some((each) => each === status && each !== 'success');
  return (
    <section class="stack tight" aria-label="Run">
      <div class="row muted playground-run-facts" role="status">
        <Badge tone={tone}>{shownText(label, 20)}</Badge>
        <a class="mono" href={paths.run(deploymentId, run.run_id)}>
          Run {run.run_id.slice(0, 8)}
        </a>
        <TimeAgo at={run.created_at} />
        {session.isReconnecting.value && <span>The connection is lost. The page tries again …</span>}
        <CopyButton text={location.href} label="Copy a link to this run" />
        {isFollowing && (
          <Button disabled={isBusy} onClick={() => void act(() => session.cancel())}>
            Cancel the run
          </Button>
        )}
        {canContinue && (
          <Button
            disabled={isBusy}
            title="Starts a run that continues with the step that did not end."
            onClick={() => void act(() => session.start({ assistantId, context }))}
          >
            {status === 'interrupted' ? 'Continue' : 'Try again'}
          </Button>
        )}
      </div>
      {status === 'interrupted' && !failure && !isWaiting && (
        <p>The run was cancelled. What its steps have stored is kept.</p>
      )}
      {failure && <Failure failure={failure} deploymentId={deploymentId} runId={run.run_id} />}
    </section>
  );
}

/** Interval for searching the log again, whose lines arrive within about a second. */
const logMs = 2_000;
const maxAttempts = 10;

/** The error of a run; its stack is in the agent's log. */
function Failure({ failure, deploymentId, runId }: { failure: RunError; deploymentId: string; runId: string }) {
  const [isOpen, setOpen] = useState(false);
  const wasCancelled = failure.error === 'RunCancelled';
  return (
    <div class={`notice${wasCancelled ? '' : ' tone-bad'}`} role="alert">
      <p>
        {!wasCancelled && <strong>{isPlainError(failure.error) ? 'Failed' : shownText(failure.error, 100)}: </strong>}
        <bdi class="untrusted">{shownText(failure.message, 5_000)}</bdi>
      </p>
      {!wasCancelled && (
        <details onToggle={(event) => setOpen(event.currentTarget.open)}>
          <summary>Stack</summary>
          {isOpen && <Stack deploymentId={deploymentId} runId={runId} />}
        </details>
      )}
    </div>
  );
}

/** The stack of a run's error: the line with the run's id in the agent's log, and the indented lines after it. */
async function findStack(deploymentId: string, runId: string, signal: AbortSignal): Promise<string | undefined> {
  const read = (query: Record<string, string | number>) =>
    call('GET', `v2/deployments/${deploymentId}/logs`, logPage, {
      query: { kind: 'deploy', level: 'error', ...query },
      signal,
    });
  const { logs: found } = await read({ query: runId, order: 'desc', limit: 1 });
  const [first] = found;
  if (!first) return undefined;
  const at = first.timestamp;
  const since = typeof at === 'number' ? new Date(at).toISOString() : (at ?? '');
  const { logs } = await read({ order: 'asc', start_time: since, limit: 200 });
  return stackIn(logs, first);
}

function Stack({ deploymentId, runId }: { deploymentId: string; runId: string }) {
  const [attempts, setAttempts] = useState(0);
  const { data, error } = useLoaded(
    runId,
    async (signal) => {
      setAttempts((former) => former + 1);
      const stack = await findStack(deploymentId, runId, signal);
      if (stack?.includes('\n') === true) setAttempts(maxAttempts);
      return stack;
    },
    attempts < maxAttempts ? { everyMs: logMs } : {},
  );
  if (error) return <p class="field-error">{error.message}</p>;
  if (data === undefined && attempts >= maxAttempts) {
    return <p class="muted">No stack trace in the agent log yet. Reopen to check again.</p>;
  }
  if (data === undefined) return <p class="muted">Looking for the stack in the agent's log …</p>;
  return (
    <pre class="sunken playground-stack" tabIndex={0}>
      <bdi>{shownText(data, 20_000)}</bdi>
    </pre>
  );
}
