import { useEffect, useState } from 'preact/hooks';
import { DeploymentPage } from '../../parts/deployment-page.tsx';
import { ErrorNotice, Loading } from '../../parts/notices.tsx';
import type { Agent } from './agent-api.ts';
import { connectAgent } from './connect-agent.ts';
import { Workbench } from './workbench.tsx';

/** Talks to the agent of a deployment: threads, runs, their steps and interrupts. */
export default function Playground({ deploymentId }: { deploymentId: string }) {
  return (
    <DeploymentPage deploymentId={deploymentId} current="Playground">
      {() => <Connection key={deploymentId} deploymentId={deploymentId} />}
    </DeploymentPage>
  );
}

function Connection({ deploymentId }: { deploymentId: string }) {
  const [agent, setAgent] = useState<Agent>();
  const [problem, setProblem] = useState<Error>();
  const connect = (): void => {
    setProblem(undefined);
    connectAgent(deploymentId).then(setAgent, () =>
      setProblem(new Error('A part of this page could not be loaded. Check your connection, then try again.')),
    );
  };
  useEffect(connect, [deploymentId]);
  if (problem) return <ErrorNotice error={problem} retry={connect} />;
  return agent ? <Workbench agent={agent} deploymentId={deploymentId} /> : <Loading what="the playground" />;
}
