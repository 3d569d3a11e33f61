import { silentLogger } from '../../../../src/kit/logger.ts';
import { systemClock } from '../../../../src/kit/clock.ts';
import { startAgentServer } from '../../../../src/services/agent/server.ts';
import type { AgentServerOptions } from '../../../../src/services/agent/server-instance.ts';
import { serveAgent } from '../serving.ts';
import type { Serving } from '../serving.ts';
import { hookedAgent } from '../webhooks/hooked-agent.ts';

/** Serves the webhook tests' agent with its own configuration; `close` also removes its folder. */
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

/** The code and lines of the startup error for this configuration. Throws if the server starts. */
export async function whyItDoesNotStart(config: object): Promise<string[]> {
  const folder = hookedAgent(config);
  try {
    // The configuration fails before the server connects to the database.
    const databaseUrl = 'postgres://nouser@127.0.0.1:1/none';
    const address = { host: '127.0.0.1', port: 0 };
    await startAgentServer({
      configPath: folder.configPath,
      databaseUrl,
      ...address,
      clock: systemClock,
      log: silentLogger,
    });
  } catch (error) {
    return [String(Object(error).code), ...Object(error).lines.map(String)];
  } finally {
    folder.remove();
  }
  throw new Error('It started.');
}
