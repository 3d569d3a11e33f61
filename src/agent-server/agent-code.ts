import { loadAuth } from './auth/agent-auth.ts';
import type { AgentAuth } from './auth/agent-auth.ts';
import type { Configuration } from './configuration.ts';
import { loadGraphs } from './graphs/load.ts';
import type { LoadedGraph } from './graphs/load.ts';
import { loadCustomApp } from './http/custom-app.ts';
import type { CustomApp } from './http/custom-app.ts';

/** The agent's code that the configuration file names. */
export interface AgentCode {
  graphs: readonly LoadedGraph[];
  /** The rules of access of `auth.path`. */
  auth: AgentAuth | undefined;
  /** The application of `http.app`. */
  app: CustomApp | undefined;
}

/**
 * Loads all of it from the agent's own folder.
 *
 * @param configPath absolute path of the configuration file.
 * @throws StartupError for the first that can't be loaded, or is not what it must be.
 */
export async function loadAgentCode(configuration: Configuration, configPath: string): Promise<AgentCode> {
  const graphs = await loadGraphs(configuration.places, configPath);
  const auth = await loadAuth(configuration, configPath);
  return { graphs, auth, app: await loadCustomApp(configuration, configPath) };
}
