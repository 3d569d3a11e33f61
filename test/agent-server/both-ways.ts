import type { AgentServer } from '../../src/contract/agent/service.ts';
import { connectAgentServer } from '../../src/client/agent.ts';
import { agentServerInProcess } from './in-process.ts';
import type { Serving } from './serving.ts';

/** A way to call an agent server. */
export interface Way {
  agent: AgentServer;
  close(): Promise<void>;
}

/** Every test runs both ways: in process, and with our client over HTTP. */
export const bothWays: [name: string, open: (serving: Serving) => Way][] = [
  ['in process', ({ fetch }) => ({ agent: agentServerInProcess(fetch), close: async () => undefined })],
  [
    'over HTTP',
    ({ url }) => {
      const client = connectAgentServer({ url, userAgent: 'landfall-tests' });
      return { agent: client, close: () => client.close() };
    },
  ],
];
