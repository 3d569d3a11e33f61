import { loggerTo } from '../../logger.ts';
import { join } from 'node:path';
import { systemClock } from '../../../src/kit/clock.ts';
import type { Clock } from '../../../src/kit/clock.ts';
import { startAgentServer } from '../../../src/services/agent/server.ts';
import type { AgentServerProcess } from '../../../src/services/agent/server.ts';
import type { AgentServerOptions } from '../../../src/services/agent/server-instance.ts';
import { startTestPostgres } from '../../kit/postgres/postgres.ts';

/** The agent used by the tests: one graph for each feature. */
export const agentConfig = join(import.meta.dirname, 'agent', 'langgraph.json');

/** Makes the pauses of a server between polls and before retries a fifth as long; time limits and delays are longer ones. */
export const hurriedClock: Clock = {
  ...systemClock,
  sleep: (ms, signal) => systemClock.sleep(ms <= 1000 ? ms / 5 : ms, signal),
};

/** An agent server on its own empty database. */
export interface Serving extends AgentServerProcess {
  databaseUrl: string;
  /** The server's log lines. */
  lines: string[];
}

/** Serves the tests' agent on a new database; `close` also removes the database. */
export async function serveAgent(options: Partial<AgentServerOptions> = {}): Promise<Serving> {
  const postgres = await startTestPostgres();
  const lines: string[] = [];
  try {
    const server = await startAgentServer({
      configPath: agentConfig,
      databaseUrl: postgres.url,
      host: '127.0.0.1',
      port: 0,
      clock: hurriedClock,
      log: loggerTo((line) => lines.push(line)),
      drainMs: 0,
      ...options,
    });
    const close = async () => {
      await server.close();
      await postgres.stop();
    };
    return { ...server, databaseUrl: postgres.url, lines, close };
  } catch (error) {
    await postgres.stop();
    throw error;
  }
}
