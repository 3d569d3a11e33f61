import { connectAgentServer, type AgentServerClient, type AgentServerSettings } from '../src/client/agent.ts';
import type { AgentServer } from '../src/contract/agent/service.ts';

/** The most values in a response or an event of an agent: parsing more holds the App's event loop. */
const mostValues = 30_000;

/** Connections to agents, one for each address. */
export interface Agents {
  at: (url: string) => AgentServer;
  close(): Promise<void>;
}

/** The limit of open connections. */
const keptAtMost = 500;

/** How long an agent may be silent (ms): a smoke test's own time bounds it before. */
const longestSilenceMs = 15 * 60_000;

/** Connects to agents on first use, and drops the least recently used connection above the limit. */
export function connectAgents(settings: Omit<AgentServerSettings, 'url'>): Agents {
  const kept = new Map<string, AgentServerClient>();
  return {
    at: (url) => {
      const agent =
        kept.get(url) ?? connectAgentServer({ idleMs: longestSilenceMs, maxJsonValues: mostValues, ...settings, url });
      kept.delete(url);
      kept.set(url, agent);
      const [oldest] = kept;
      if (kept.size > keptAtMost && oldest !== undefined) {
        kept.delete(oldest[0]);
        void oldest[1].close();
      }
      return agent;
    },
    close: async () => {
      await Promise.all([...kept.values()].map((agent) => agent.close()));
    },
  };
}
