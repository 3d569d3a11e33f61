import { dirname, delimiter, join } from 'node:path';
import type { AgentSpec, BuildProgram } from './compute.ts';
import { fileURLToPath } from 'node:url';

/** The settings of an agent that are the same for processes and containers. */
export interface AgentSettings {
  token: string;
  /** The milliseconds that it may take to drain when it is stopped. */
  drainMs: number;
  /** Whether webhooks may reach private networks: the operator's setting. */
  privateWebhooks: boolean;
}

/** The variable that marks the processes of an agent; its value is a unique path below the agent's home. */
export const agentMark = 'LANDFALL_AGENT';

/** The value of `LANDFALL_WEBHOOK_PRIVATE`: whether the agent's webhooks may reach private networks. */
export const webhookPrivate = (allowed: boolean): string => (allowed ? 'allow' : 'refuse');

/** The PATH of agents: first the Node.js that runs them, by default this service's own. */
export const pathWithOurNode = (path: string, node: string = process.execPath): string =>
  [dirname(node), path].join(delimiter);

/** The deployment's secrets, overridden by the platform's variables, which are the same for processes and containers. */
export const agentVariables = (
  { secrets, databaseUrl, revisionId, deploymentId, tracing, holdUntil }: Omit<AgentSpec, 'program'>,
  { token, drainMs, privateWebhooks }: AgentSettings,
): Record<string, string> => ({
  ...Object.fromEntries(secrets.map(({ name, value }) => [name, value])),
  DATABASE_URI: databaseUrl,
  LANDFALL_AGENT_TOKEN: token,
  LANDFALL_REVISION_ID: revisionId,
  LANDFALL_DEPLOYMENT_ID: deploymentId,
  LANDFALL_DRAIN_MS: String(drainMs),
  LANDFALL_WEBHOOK_PRIVATE: webhookPrivate(privateWebhooks),
  ...(holdUntil ? { LANDFALL_HOLD_UNTIL: holdUntil.toISOString() } : {}),
  ...(tracing ? { LANDFALL_TRACING_URL: tracing.url, LANDFALL_TRACING_TOKEN: tracing.token } : {}),
});

/** The environment of an agent's process. It has only the search path of this service's: the rest may hold secrets. */
export const agentEnvironment = (
  spec: AgentSpec,
  program: BuildProgram,
  { socket, path, node, ...settings }: AgentSettings & { socket: string; path: string; node: string },
): Record<string, string> => ({
  NODE_ENV: 'production',
  ...agentVariables(spec, settings),
  PATH: pathWithOurNode(program.python === undefined ? path : `${dirname(program.python)}${delimiter}${path}`, node),
  ...(program.python === undefined ? {} : { LANDFALL_PYTHON: program.python }),
  HOME: program.homeFolder,
  // A shared folder for temporary files is unsafe: other users could plant a file under a known name there, such as
  // precompiled code.
  TMPDIR: join(program.homeFolder, 'tmp'),
  HOST: '127.0.0.1',
  PORT: '0',
  LANDFALL_GRAPH_CONFIG: program.graphConfigFile,
  LANDFALL_AGENT_SOCKET: socket,
});

/** The secrets that an agent receives. */
export interface AgentSecrets {
  /** The variables of its deployment and its revision. */
  secrets: readonly { value: string }[];
  /** The address of its database, or only the password. */
  database: string;
  /** The tokens that the service gives it. */
  tokens: readonly (string | undefined)[];
}

/** All secrets of an agent, to be masked in its logs, its traced runs and the verdicts on it. */
export function agentSecrets({ secrets, database, tokens }: AgentSecrets): string[] {
  const password = URL.canParse(database) ? decodeURIComponent(new URL(database).password) : '';
  const all = [...secrets.map(({ value }) => value), database, password, ...tokens];
  return all.filter((secret) => secret !== undefined);
}

/** The secrets in an agent's spec, and its token. */
export const specSecrets = ({ secrets, databaseUrl, tracing }: AgentSpec, token?: string): string[] =>
  agentSecrets({ secrets, database: databaseUrl, tokens: [token, tracing?.token] });

/** The file that runs one revision's agent: a source file of the agent server, or the bundle in the folder beside this file's. */
export function agentServerPath(here: string = import.meta.url): string {
  const serverPath = here.endsWith('.ts') ? '../../agent/main.ts' : '../agent/agent-server.js';
  return fileURLToPath(new URL(serverPath, here));
}

/** The program beside an agent server that prepares an agent for it, at the end of a build. */
export const preparePath = (agentServer: string): string =>
  join(dirname(agentServer), agentServer.endsWith('.ts') ? 'prepare.ts' : 'agent-prepare.js');
