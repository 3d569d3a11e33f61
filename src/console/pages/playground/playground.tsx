import { useLocation } from 'preact-iso';
import { useEffect, useState } from 'preact/hooks';
import { deploymentPage } from '../../parts/deployment-page.tsx';
import { ErrorNotice, Loading, Empty } from '../../parts/notices.tsx';
import { paths } from '../../paths.ts';
import { isUuid } from '../../../kit/uuid.ts';
import { createAgent, type Agent } from './agent-api.ts';
import { type AgentPlace, useSession } from './use-session.ts';
import type { Assistant } from '../../../contract/agent/assistant.ts';
import { useLoaded } from '../../api/use-loaded.ts';
import { AssistantBar, Configuration } from './assistant-bar.tsx';
import { Conversation } from './conversation.tsx';
import { GraphView } from './graph-view.tsx';
import type { Step } from './history.ts';
import { endedNodes } from './run-view.ts';
import { Steps } from './steps.tsx';
import { ThreadList } from './thread-list.tsx';
import type { ThreadSession } from './thread-session.ts';
import { IdLink } from '../../parts/untrusted.tsx';

/** The playground of a deployment's agent: threads, runs, steps and interrupts. */
export default deploymentPage('Playground', ({ deploymentId }) => {
  const { revision = '' } = useLocation().query;
  const heldRevisionId = isUuid(revision) ? revision : undefined;
  return (
    <>
      {heldRevisionId !== undefined && <HeldNotice deploymentId={deploymentId} revisionId={heldRevisionId} />}
      <Workbench key={`${deploymentId} ${heldRevisionId ?? ''}`} place={{ deploymentId, heldRevisionId }} />
    </>
  );
});

function HeldNotice({ deploymentId, revisionId }: { deploymentId: string; revisionId: string }) {
  return (
    <p class="notice">
      This is revision <IdLink to={paths.revision} deploymentId={deploymentId} id={revisionId} />, which is held before
      traffic. It has the threads of the live revision, and what it writes to them stays. Promote or discard it on its
      page, or <a href={paths.playground(deploymentId)}>talk to the live revision</a>.
    </p>
  );
}

const assistantsMs = 15_000;
const retryMs = 5_000;

/** The content of the page for one agent. */
function Workbench({ place }: { place: AgentPlace }) {
  const { deploymentId, heldRevisionId } = place;
  const [agent] = useState(() =>
    createAgent(heldRevisionId === undefined ? deploymentId : `${deploymentId}@${heldRevisionId}`),
  );
  const {
    data: assistants,
    error,
    reload,
  } = useLoaded(deploymentId, (signal) => agent.assistants(signal), {
    everyMs: assistantsMs,
  });
  const [assistantId, setAssistantId] = useState<string>();
  const { session, open, startThread } = useSession(agent, place);
  const usedAssistant = session?.run.value?.assistant_id;
  // Continue a thread with the assistant of its run until a person selects another one.
  useEffect(() => {
    if (usedAssistant !== undefined) setAssistantId(usedAssistant);
  }, [usedAssistant, session]);
  const assistant = assistants?.find(({ assistant_id }) => assistant_id === assistantId) ?? assistants?.[0];
  if (!assistants) {
    return error ? <ErrorNotice error={error} retry={reload} /> : <Loading what="the assistants" />;
  }
  if (!assistant) {
    return (
      <Empty title="No assistants">
        <p>The agent serves no graph yet. Add one to its graph configuration file and deploy it.</p>
      </Empty>
    );
  }
  return (
    <AssistantWorkbench
      key={assistant.assistant_id}
      {...{ agent, place, assistants, assistant, reload, session, open, startThread }}
      choose={setAssistantId}
    />
  );
}

interface AssistantWorkbenchProps {
  agent: Agent;
  place: AgentPlace;
  assistants: readonly Assistant[];
  assistant: Assistant;
  choose: (assistantId: string) => void;
  reload: () => Promise<void>;
  session: ThreadSession | undefined;
  open: (threadId: string | undefined) => void;
  startThread: () => Promise<ThreadSession>;
}

function AssistantWorkbench(props: AssistantWorkbenchProps) {
  const { agent, place, assistants, assistant, choose, reload, session, open, startThread } = props;
  const assistantId = assistant.assistant_id;
  const key = `${assistantId} ${assistant.version ?? ''}`;
  const graph = useLoaded(key, async () => {
    const [schemas, drawing] = await Promise.all([agent.schemas(assistantId), agent.drawing(assistantId)]);
    return { schemas, drawing };
  });
  useEffect(() => {
    const timer = graph.error && setTimeout(() => void graph.reload(), retryMs);
    return () => clearTimeout(timer);
  }, [graph.error]);
  const [context, setContext] = useState<Record<string, unknown>>();
  const [forked, setForked] = useState<{ session: ThreadSession; step: Step }>();
  const fork = forked && forked.session === session ? forked.step : undefined;
  const setFork = (step: Step | undefined): void => setForked(session && step ? { session, step } : undefined);
  const view = session?.view.value;
  const hasFailed = session?.failure.value !== undefined;
  const nodes = view && !session?.isFollowing.value ? endedNodes(view, hasFailed) : (view?.nodes ?? new Map());
  const nodeNames = graph.data?.drawing.nodes.map(({ id }) => String(id)).filter((id) => !id.startsWith('__')) ?? [];

  return (
    <>
      <AssistantBar {...{ agent, assistants, assistant, choose, reload }} />
      {graph.error && <ErrorNotice error={graph.error} retry={graph.reload} />}
      <div class="playground">
        <ThreadList
          {...{ agent, place }}
          inputSchema={graph.data?.schemas.input_schema}
          current={session}
          onOpen={open}
        />
        <Conversation
          {...{ assistantId, context, fork, setFork, session, startThread }}
          deploymentId={place.deploymentId}
          schema={graph.data?.schemas.input_schema}
        />
        <div class="stack playground-side">
          {graph.data && <GraphView drawing={graph.data.drawing} nodes={nodes} />}
          {session && <Steps {...{ agent, session, assistantId, context, setFork, nodeNames }} />}
          {graph.data && (
            <Configuration key={key} assistant={assistant} schemas={graph.data.schemas} onChange={setContext} />
          )}
        </div>
      </div>
    </>
  );
}
