import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { ThreadState } from '../../../contract/agent/thread.ts';
import { JsonView } from '../../parts/json-view.tsx';
import { ErrorNotice, Loading } from '../../parts/notices.tsx';
import { shownText } from '../../parts/untrusted.tsx';
import { Composer } from './composer.tsx';
import type { Step } from './history.ts';
import { InterruptPanel } from './interrupt-panel.tsx';
import { interruptsOf } from './interrupts.ts';
import { MessageList } from './message-list.tsx';
import { messagesOf } from './messages.ts';
import { RunBar } from './run-bar.tsx';
import type { ThreadSession } from './thread-session.ts';
import { Button } from '../../parts/button.tsx';

export interface ConversationProps {
  deploymentId: string;
  assistantId: string;
  context: Record<string, unknown> | undefined;
  /** The JSON schema of the graph's input. */
  schema: unknown;
  session: ThreadSession | undefined;
  startThread: () => Promise<ThreadSession>;
  /** The older step that the next run continues from. */
  fork: Step | undefined;
  setFork: (step: Step | undefined) => void;
}

/** The messages or the state of a thread, its interrupts, and the form for the next run. */
export function Conversation(props: ConversationProps) {
  const { deploymentId, assistantId, context, session, fork, setFork } = props;
  const isFollowing = session?.isFollowing.value ?? false;
  const view = session?.view.value;
  const older = session?.isOlderRun.value ? stateAfter(session) : undefined;
  const newest = fork?.state ?? older ?? session?.states.value[0];
  const values = isFollowing ? (view?.values ?? newest?.values) : newest?.values;
  const messages = useMemo(() => messagesOf(values), [values]);
  const streamed = isFollowing ? (view?.streamed ?? []) : [];
  const interrupts = useMemo(() => (isFollowing || older ? [] : interruptsOf(newest)), [newest, older, isFollowing]);
  const hasChat = messages !== undefined || streamed.length > 0;
  // On a narrow screen the form hides the run. Scroll to the run when it starts and when it ends.
  const result = useRef<HTMLDivElement>(null);
  const isScrollPending = useRef(false);
  const shownRunId = session?.run.value?.run_id;
  useEffect(() => {
    if (!isScrollPending.current || shownRunId === undefined) return;
    result.current?.scrollIntoView({ block: 'nearest' });
    isScrollPending.current = isFollowing;
  }, [shownRunId, isFollowing]);

  return (
    <section class="surface stack playground-main" aria-label="Conversation">
      {session?.problem.value && <ErrorNotice error={session.problem.value} retry={() => session.reload()} />}
      {session?.refusal.value && <Refusal session={session} {...session.refusal.value} />}
      {session && !session.thread.value && !session.problem.value && !isFollowing && <Loading what="the thread" />}
      {!session && <p class="muted playground-hint">Send a message to start a new thread.</p>}
      {older && session && (
        <p class="notice">
          You see the thread as an older run left it. A new run continues from the newest state.{' '}
          <Button onClick={() => void session.showNewest()}>Show the newest</Button>
        </p>
      )}
      {hasChat && (
        <MessageList messages={messages ?? []} streamed={streamed.map(({ shown }) => shown)} isBusy={isFollowing} />
      )}
      {session && (
        <div class="stack playground-result" ref={result}>
          {!hasChat && values !== undefined && <StateView values={values} />}
          <RunBar {...{ session, deploymentId, assistantId, context }} />
        </div>
      )}
      {session && interrupts.length > 0 && (
        <InterruptPanel
          key={newest?.checkpoint?.checkpoint_id}
          interrupts={interrupts}
          onAnswer={async (command) => {
            await session.start({ assistantId, context, command, checkpoint: fork?.checkpoint });
            setFork(undefined);
          }}
        />
      )}
      <Composer
        {...props}
        hasChat={messages !== undefined}
        isWaiting={interrupts.length > 0 || (!isFollowing && interruptsOf(session?.states.value[0]).length > 0)}
        onFormSent={() => (isScrollPending.current = true)}
      />
    </section>
  );
}

/** The error that ended the following of a run. */
function Refusal({ session, runId, error }: { session: ThreadSession; runId: string; error: Error }) {
  return (
    <div class="notice row row-split tone-bad" role="alert">
      <p>
        The page stopped following run <span class="mono">{runId.slice(0, 8)}</span>, which may go on.{' '}
        {shownText(error.message, 1_000)}
      </p>
      <div class="actions">
        <Button onClick={() => void session.followAgain()}>Follow again</Button>
        <Button onClick={() => session.dismissRefusal()}>Dismiss</Button>
      </div>
    </div>
  );
}

/** The state after the shown run; undefined if it is not among the loaded states. */
const stateAfter = ({ run, states }: ThreadSession): ThreadState | undefined =>
  states.value.find(({ metadata }) => metadata?.['run_id'] === run.value?.run_id);

/** The state of a graph without messages. */
function StateView({ values }: { values: unknown }) {
  const entries = typeof values === 'object' && values !== null ? Object.entries(values) : [];
  if (entries.length === 0) return null;
  return (
    <section class="stack tight" aria-label="State">
      <h2>State</h2>
      {entries.map(([name, value]) => (
        <JsonView key={name} name={name} value={value} open />
      ))}
    </section>
  );
}
