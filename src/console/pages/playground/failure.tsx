import { useState } from 'preact/hooks';
import { logPage } from '../../../contract/control/log.ts';
import { call } from '../../api/http.ts';
import { useLoaded } from '../../api/use-loaded.ts';
import { isPlainError } from '../../parts/value-text.ts';
import { shownText } from '../../parts/untrusted.tsx';
import type { RunFailure } from './agent-api.ts';
import { stackIn } from './run-view.ts';

/** Lines of the log arrive within about a second. */
const logMs = 2_000;
const mostAttempts = 10;

/** The error of a run; its stack is in the agent's log. */
export function Failure({
  failure,
  deploymentId,
  runId,
}: {
  failure: RunFailure;
  deploymentId: string;
  runId: string;
}) {
  const [isOpen, setOpen] = useState(false);
  const wasCancelled = failure.error === 'RunCancelled';
  return (
    <div class={`notice playground-failure${wasCancelled ? '' : ' playground-failure-bad'}`} role="alert">
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

/** The stack of a run's error: the line of the agent's log with the run's id, and those below that belong to it. */
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
      if (stack?.includes('\n') === true) setAttempts(mostAttempts);
      return stack;
    },
    attempts < mostAttempts ? { everyMs: logMs } : {},
  );
  if (error) return <p class="field-error">{error.message}</p>;
  if (data === undefined && attempts >= mostAttempts) {
    return <p class="muted">No stack trace in the agent log yet. Reopen to check again.</p>;
  }
  if (data === undefined) return <p class="muted">Looking for the stack in the agent's log …</p>;
  return (
    <pre class="sunken playground-stack" tabIndex={0}>
      <bdi>{shownText(data, 20_000)}</bdi>
    </pre>
  );
}
