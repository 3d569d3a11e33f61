import { systemClock } from '../../../src/clock.ts';
import { startAgentServer } from '../../../src/agent-server/server.ts';
import type { AgentServerOptions } from '../../../src/agent-server/server.ts';
import { serveAgent } from '../serving.ts';
import type { Serving } from '../serving.ts';
import { hookedAgent } from '../webhooks/hooked-agent.ts';

/** Serves the agent of the webhooks' tests with a configuration of its own; `close` removes its folder too. */
export async function serveConfig(config: object, options: Partial<AgentServerOptions> = {}): Promise<Serving> {
  const folder = hookedAgent(config);
  try {
    const serving = await serveAgent({ configPath: folder.configPath, ...options });
    const close = async () => {
      await serving.close();
      folder.remove();
    };
    return { ...serving, close };
  } catch (error) {
    folder.remove();
    throw error;
  }
}

/** Why a server with this configuration does not start: its code and its lines. Throws where it does start. */
export async function whyItDoesNotStart(config: object): Promise<string[]> {
  const folder = hookedAgent(config);
  try {
    // What stops the start is found before the database is looked for.
    const databaseUrl = 'postgres://nobody@127.0.0.1:1/none';
    const address = { host: '127.0.0.1', port: 0 };
    await startAgentServer({
      configPath: folder.configPath,
      databaseUrl,
      ...address,
      clock: systemClock,
      log: () => undefined,
    });
  } catch (error) {
    return [String(Object(error).code), ...Object(error).lines.map(String)];
  } finally {
    folder.remove();
  }
  throw new Error('It started.');
}
