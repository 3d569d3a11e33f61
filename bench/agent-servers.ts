// The agent servers that are compared: ours, built as in the package that people install, and the public JavaScript one.
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import * as z from 'zod';
import { installPublicAgentServer, startPublicAgentServer } from '../test/partners/start-public-agent-server.ts';

const root = dirname(import.meta.dirname);

/** An agent server in a process of its own, which serves examples/echo-agent. */
export interface BenchAgentServer extends AsyncDisposable {
  url: string;
  pid: number;
}

/** Starts ours. @param agent the graphs, and what they need of the environment; examples/echo-agent else. */
export async function startOurs(
  { program, databaseUrl }: { program: string; databaseUrl: string },
  agent: { config: string; env?: Record<string, string> } = { config: 'examples/echo-agent/langgraph.json' },
): Promise<BenchAgentServer> {
  const child = spawn(process.execPath, [program], {
    env: {
      PATH: process.env['PATH'],
      DATABASE_URI: databaseUrl,
      ...agent.env,
      LANDFALL_GRAPH_CONFIG: join(root, agent.config),
      LANDFALL_DRAIN_MS: '0',
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const gone = new Promise<void>((leave) => child.once('close', () => leave()));
  const port = await new Promise<number>((found, fail) => {
    child.once('error', fail);
    child.once('close', (code) => fail(new Error(`our agent server ended with ${code}`)));
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line.includes('"listening"')) found(z.object({ port: z.int() }).parse(JSON.parse(line)).port);
    });
  });
  return {
    url: `http://127.0.0.1:${port}`,
    pid: z.int().parse(child.pid),
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      await gone;
    },
  };
}

/** Starts the public one, which keeps everything in memory; undefined where its packages are not there and can't be had. */
export async function startPeer(): Promise<BenchAgentServer | undefined> {
  try {
    await installPublicAgentServer();
  } catch (error) {
    console.error(
      `No peer: its packages could not be installed (${error instanceof Error ? error.message : String(error)}).`,
    );
    return undefined;
  }
  const server = await startPublicAgentServer('echo-agent');
  return { url: server.url, pid: server.pid, [Symbol.asyncDispose]: () => server.stop() };
}
