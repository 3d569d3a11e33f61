import { finalRunStatuses } from '../../../contract/agent/run.ts';
import { useAction } from '../../api/use-form.ts';
import { paths } from '../../paths.ts';
import { Badge, runStatus } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { TimeAgo } from '../../parts/time.tsx';
import { shownText } from '../../parts/untrusted.tsx';
import { Failure } from './failure.tsx';
import type { ThreadSession } from './thread-session.ts';

interface RunBarProps {
  session: ThreadSession;
  deploymentId: string;
  assistantId: string;
  context: Record<string, unknown> | undefined;
}

/** The run that is shown: how it is going, its error, and what can be done about it. */
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
    <section class="playground-run" aria-label="Run">
      <div class="playground-run-facts" role="status">
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
