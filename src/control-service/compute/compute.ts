import type { Secret } from '../../contract/control/secret.ts';
import type { WriteLine } from './log-line.ts';

/** What it takes to run one revision of a deployment. */
export interface AgentSpec {
  deploymentId: string;
  revisionId: string;
  /** Absolute path of the graph configuration file in the revision's build. */
  graphConfigFile: string;
  /** A folder of the revision's own, for the agent's home. */
  homeFolder: string;
  /** Address of the database that all revisions of the deployment share: a secret. */
  databaseUrl: string;
  /** Variables of the agent's environment (control-service.md, Secret). What the platform sets itself comes first. */
  secrets: readonly Secret[];
  /** Takes what the agent writes, masked. */
  log: WriteLine;
}

/** An agent that answers. */
export interface RunningAgent {
  /** Where it listens: `http://127.0.0.1:<port>`. */
  origin: string;
  /** What every request to it has to carry in `x-landfall-agent-token`. */
  token: string;
  /**
   * Lets it finish what it is at and ends it, after `withinMs` by force; the compute's own bound when absent. Of several
   * calls the shortest bound counts; all wait for the end.
   */
  stop(withinMs?: number): Promise<void>;
  /** Resolves with words for a person when it has ended, asked or not. */
  exited: Promise<string>;
}

/** How a start ends: with an agent that answered when asked for its health, or with the reason why there is none. */
export type AgentStart = { kind: 'running'; agent: RunningAgent } | { kind: 'failed'; reason: string };

/** Something that can run agents: processes of this machine, and later containers or a cluster. */
export interface Compute {
  /** Starts an agent. When `signal` aborts first, what was begun is ended and the start has failed. */
  start(spec: AgentSpec, signal: AbortSignal): Promise<AgentStart>;
}
