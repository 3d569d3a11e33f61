import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTestPostgres } from '../../../database/postgres.ts';
import { startAgentProcess } from '../../../agent-server/agent-process.ts';
import { startReceiver } from '../../../agent-server/webhooks/receiver.ts';
import type { Receiver } from '../../../agent-server/webhooks/receiver.ts';
import { installPublicAgentServer, startPublicAgentServer } from '../../start-public-agent-server.ts';
import { manySided } from '../deployed.ts';

/** A server that is asked, and the place that its webhooks may go to. */
export interface Contender {
  readonly url: string;
  receiver: Receiver;
  /** Kills its process, and starts another one on what it left. */
  startAgain(): Promise<void>;
  close(): Promise<void>;
}

/** The agent with a configuration that lets webhooks go to one port of this machine; `remove` takes it away. */
function folderFor(receiver: Receiver): { folder: string; remove: () => void } {
  const above = mkdtempSync(join(tmpdir(), 'landfall-table-'));
  const folder = join(above, 'many-sided');
  cpSync(manySided, folder, { recursive: true });
  symlinkSync(join(import.meta.dirname, '../../../../node_modules'), join(folder, 'node_modules'), 'junction');
  const graphs = ['greeter', 'chat', 'asks', 'outer', 'keeper', 'slow'].map((id) => [id, `./${id}.ts:${id}`]);
  const webhooks = { url: { allowed_domains: ['127.0.0.1'], allowed_ports: [receiver.port] } };
  writeFileSync(join(folder, 'langgraph.json'), JSON.stringify({ graphs: Object.fromEntries(graphs), webhooks }));
  return { folder, remove: () => rmSync(above, { recursive: true, force: true }) };
}

/** The public JavaScript server with the agent. */
export async function thePublicServer(): Promise<Contender> {
  await installPublicAgentServer();
  const receiver = await startReceiver();
  const { folder, remove } = folderFor(receiver);
  const server = await startPublicAgentServer(folder);
  return {
    get url() {
      return server.url;
    },
    receiver,
    startAgain: () => server.startAgain(),
    async close() {
      await server.stop();
      await receiver.close();
      remove();
    },
  };
}

/** Our server with the same agent, in a process of its own. */
export async function ourServer(): Promise<Contender> {
  const receiver = await startReceiver();
  const { folder, remove } = folderFor(receiver);
  const postgres = await startTestPostgres();
  const start = () =>
    startAgentProcess({ LANDFALL_GRAPH_CONFIG: join(folder, 'langgraph.json'), DATABASE_URI: postgres.url });
  let server = await start();
  const kill = async () => {
    server.child.kill('SIGKILL');
    await server.gone;
  };
  return {
    get url() {
      return server.url;
    },
    receiver,
    async startAgain() {
      await kill();
      server = await start();
    },
    async close() {
      await kill();
      await postgres.stop();
      await receiver.close();
      remove();
    },
  };
}
