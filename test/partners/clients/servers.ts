import { manySided, openDeployed } from '../agent-clients/deployed.ts';
import { installPublicAgentServer, startPublicAgentServer } from '../start-public-agent-server.ts';
import type { ClientServer } from './case.ts';

/** Both servers with the same agent. */
export interface BothServers {
  /** Ours, by the address that the control service gives. */
  ours: ClientServer;
  theirs: ClientServer;
  close(): Promise<void>;
}

/** Deploys the agent of `agent-clients/agent` on ours, and starts the public server with it. The caller closes them. */
export async function openServers(): Promise<BothServers> {
  // Installing takes as long as the registry does.
  await installPublicAgentServer();
  const [ours, theirs] = await Promise.allSettled([openDeployed(), startPublicAgentServer(manySided)]);
  const close = async () => {
    if (ours.status === 'fulfilled') await ours.value.close();
    if (theirs.status === 'fulfilled') await theirs.value.stop();
  };
  if (ours.status === 'fulfilled' && theirs.status === 'fulfilled') {
    return { ours: ours.value, theirs: { url: theirs.value.url, apiKey: null }, close };
  }
  await close();
  throw ours.status === 'rejected' ? ours.reason : theirs.status === 'rejected' ? theirs.reason : undefined;
}
