import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { GraphConfig } from '../../../../src/agent-folder/graph-config/schema.ts';
import { startTestPostgres } from '../../../kit/postgres/postgres.ts';
import { startAgentProcess } from '../../../services/agent/agent-process.ts';
import type { AgentProcess } from '../../../services/agent/agent-process.ts';
import { startReceiver } from '../../../services/agent/webhooks/receiver.ts';
import type { Receiver } from '../../../services/agent/webhooks/receiver.ts';
import { startPublicAgentServer } from '../../start-public-agent-server.ts';
import { manySided } from '../deployed.ts';

/**
 * A server under test, and the receiver of its webhooks. The public server reads the address of the receiver from its
 * configuration file, so ours does too.
 */
export interface Contender {
  readonly url: string;
  receiver: Receiver;
  /** Kills its process, and starts another one on the same data, which sends webhooks to `https://` only. */
  startAgain(): Promise<void>;
  /** Starts one more process with these settings, and stops it; rejects with its error output if it does not start. */
  tryToStart(settings: Settings): Promise<void>;
  close(): Promise<void>;
}

/** The agent's configuration besides its graphs. */
export type Settings = Pick<GraphConfig, 'auth' | 'http' | 'webhooks' | 'env'>;

/** Settings that allow webhooks to one port of this machine, with their own headers. */
export const toReceiver = (receiver: Receiver): Settings => ({
  env: { TABLE_TOKEN: 'word of the receiver' },
  webhooks: {
    env_prefix: 'TABLE_',
    headers: { 'x-from': 'the table', 'x-token': '${{ env.TABLE_TOKEN }}' },
    url: {
      allowed_domains: ['127.0.0.1'],
      allowed_ports: [receiver.port],
      disable_loopback: true,
      max_url_length: 500,
    },
  },
});

/** Settings with auth, and without webhooks. */
export const guarded = (receiver: Receiver): Settings => ({
  auth: { path: './auth.ts:auth' },
  http: { disable_webhooks: true },
  webhooks: { url: { allowed_domains: ['127.0.0.1'], allowed_ports: [receiver.port] } },
});

/** Writes the agent into a new folder with these settings; `remove` deletes it. */
function folderWith(settings: Settings): { folder: string; settle: (others: Settings) => void; remove: () => void } {
  const above = mkdtempSync(join(tmpdir(), 'landfall-table-'));
  const folder = join(above, 'many-sided');
  cpSync(manySided, folder, { recursive: true });
  symlinkSync(join(import.meta.dirname, '../../../../node_modules'), join(folder, 'node_modules'), 'junction');
  const ids = ['greeter', 'chat', 'interrupts', 'outer', 'keeper', 'slow'];
  // One more, for tests that delete something permanently.
  const graphs = { ...Object.fromEntries(ids.map((id) => [id, `./${id}.ts:${id}`])), spare: './greeter.ts:greeter' };
  const settle = (some: Settings) => writeFileSync(join(folder, 'langgraph.json'), JSON.stringify({ graphs, ...some }));
  settle(settings);
  return { folder, settle, remove: () => rmSync(above, { recursive: true, force: true }) };
}

/** The public JavaScript server with the agent. */
export async function thePublicServer(settings: (receiver: Receiver) => Settings): Promise<Contender> {
  const receiver = await startReceiver();
  const { folder, remove } = folderWith(settings(receiver));
  const server = await startPublicAgentServer(folder);
  return {
    get url() {
      return server.url;
    },
    receiver,
    startAgain: () => server.startAgain(),
    async tryToStart(others) {
      const another = folderWith(others);
      const started = await startPublicAgentServer(another.folder).finally(another.remove);
      await started.stop();
    },
    async close() {
      await server.stop();
      await receiver.close();
      remove();
    },
  };
}

/** Our server with the same agent, in a process of its own. */
export async function ourServer(settings: (receiver: Receiver) => Settings): Promise<Contender> {
  const receiver = await startReceiver();
  const { folder, settle, remove } = folderWith(settings(receiver));
  const postgres = await startTestPostgres();
  const start = (of = folder) =>
    startAgentProcess({ LANDFALL_GRAPH_CONFIG: join(of, 'langgraph.json'), DATABASE_URI: postgres.url });
  const kill = async ({ child, gone }: AgentProcess) => {
    child.kill('SIGKILL');
    await gone;
  };
  let server = await start();
  return {
    get url() {
      return server.url;
    },
    receiver,
    async startAgain() {
      await kill(server);
      const { webhooks, ...rest } = settings(receiver);
      settle({ ...rest, webhooks: { ...webhooks, url: { ...webhooks?.url, require_https: true } } });
      server = await start();
    },
    async tryToStart(others) {
      const another = folderWith(others);
      try {
        await kill(await start(another.folder));
      } finally {
        another.remove();
      }
    },
    async close() {
      await kill(server);
      await postgres.stop();
      await receiver.close();
      remove();
    },
  };
}
