import { useLocation } from 'preact-iso';
import { useEffect, useState } from 'preact/hooks';
import { DeploymentPage } from '../../parts/deployment-page.tsx';
import { ErrorNotice, Loading } from '../../parts/notices.tsx';
import { shortId } from '../../parts/revision-status.ts';
import { paths } from '../../paths.ts';
import type { Agent } from './agent-api.ts';
import { connectAgent } from './connect-agent.ts';
import { isId } from './thread-query.ts';
import type { AgentPlace } from './use-session.ts';
import { Workbench } from './workbench.tsx';

/** Talks to the agent of a deployment: threads, runs, their steps and interrupts. */
export default function Playground({ deploymentId }: { deploymentId: string }) {
  const { revision = '' } = useLocation().query;
  const heldRevisionId = isId(revision) ? revision : undefined;
  return (
    <DeploymentPage deploymentId={deploymentId} current="Playground">
      {() => (
        <>
          {heldRevisionId !== undefined && <HeldNotice deploymentId={deploymentId} revisionId={heldRevisionId} />}
          <Connection key={`${deploymentId} ${heldRevisionId ?? ''}`} place={{ deploymentId, heldRevisionId }} />
        </>
      )}
    </DeploymentPage>
  );
}

function HeldNotice({ deploymentId, revisionId }: { deploymentId: string; revisionId: string }) {
  return (
    <p class="notice">
      This is revision{' '}
      <a class="mono" href={paths.revision(deploymentId, revisionId)}>
        {shortId(revisionId)}
      </a>
      , which is held before traffic. It has the threads of the live revision, and what it writes to them stays. Promote
      or discard it on its page, or <a href={paths.playground(deploymentId)}>talk to the live revision</a>.
    </p>
  );
}

function Connection({ place }: { place: AgentPlace }) {
  const { deploymentId, heldRevisionId } = place;
  const [agent, setAgent] = useState<Agent>();
  const [problem, setProblem] = useState<Error>();
  const connect = (): void => {
    setProblem(undefined);
    connectAgent(heldRevisionId === undefined ? deploymentId : `${deploymentId}@${heldRevisionId}`).then(setAgent, () =>
      setProblem(new Error('A part of this page could not be loaded. Check your connection, then try again.')),
    );
  };
  useEffect(connect, [deploymentId, heldRevisionId]);
  if (problem) return <ErrorNotice error={problem} retry={connect} />;
  return agent ? <Workbench agent={agent} place={place} /> : <Loading what="the playground" />;
}
