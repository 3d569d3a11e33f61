// Revisions of the example `refund-agent` in this process, on one database: they share their threads.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { systemClock } from '../../src/kit/clock.ts';
import { sharedDatabase } from '../services/agent/runs/two-servers.ts';
import { temporaryAgent, type TemporaryAgent } from '../services/agent/temporary-agent.ts';
import type { Agents } from './app-agents.ts';

const example = join(import.meta.dirname, '../../examples/refund-agent/src');
const sources = Object.fromEntries(
  ['refunds.ts', 'graph.ts', 'changes.ts'].map((file) => [`src/${file}`, readFileSync(join(example, file), 'utf8')]),
);

/** Agents that a commit chooses: by the name of a change of the example, any other word for the agent itself. */
export interface RefundAgents extends Agents {
  /** Runs of changes wait from now on. Resolves once there is one; then they wait until `goOn`. */
  stall(): { waits: Promise<void>; goOn: () => void };
}

const changes = ['renamedNode', 'addition'];

/** Creates their database, and starts each agent when a commit first names it. A change counts as held. */
export async function refundAgents(): Promise<RefundAgents> {
  const servers = await sharedDatabase();
  const folders: TemporaryAgent[] = [];
  const started = new Map<string, Promise<string>>();
  const gates: { close: () => void }[] = [];
  let stalled: { isWaiting: () => void; over: Promise<void> } | undefined;

  async function start(change: string | undefined): Promise<string> {
    const graph = change === undefined ? './src/graph.ts:graph' : `./src/changes.ts:${change}`;
    const config = { node_version: '24', graphs: { refunds: graph } };
    const folder = temporaryAgent({ ...sources, 'langgraph.json': config });
    folders.push(folder);
    const held = change === undefined ? {} : { holdUntil: new Date(Date.now() + 3_600_000) };
    const { configPath } = folder;
    const { url } = await servers.start({ configPath, clock: systemClock, revisionId: change ?? 'first', ...held });
    return change === undefined ? url : gateTo(url);
  }

  /** The address of a proxy that passes requests on, and has runs wait while they are stalled. */
  async function gateTo(url: string): Promise<string> {
    const gate = createServer((incoming, outgoing) => {
      const pass = () => passOn(url, incoming, outgoing);
      if (!stalled || !incoming.url?.endsWith('/runs/wait')) return pass();
      stalled.isWaiting();
      void stalled.over.then(pass);
    });
    gate.listen(0, '127.0.0.1');
    await once(gate, 'listening');
    gates.push({
      close: () => {
        gate.closeAllConnections();
        gate.close();
      },
    });
    const address = gate.address();
    if (address === null || typeof address === 'string') throw new Error('the gate listens at no port');
    return `http://127.0.0.1:${address.port}`;
  }

  return {
    saying(word) {
      const change = changes.find((each) => each === word);
      const made = started.get(change ?? '') ?? start(change);
      started.set(change ?? '', made);
      return made;
    },
    stall() {
      const { promise: waits, resolve: isWaiting } = Promise.withResolvers<void>();
      const { promise: over, resolve } = Promise.withResolvers<void>();
      stalled = { isWaiting, over };
      const goOn = (): void => {
        stalled = undefined;
        resolve();
      };
      return { waits, goOn };
    },
    async close() {
      for (const gate of gates) gate.close();
      await servers.close();
      for (const folder of folders) folder.remove();
    },
  };
}

function passOn(url: string, incoming: IncomingMessage, outgoing: ServerResponse): void {
  const { method, headers } = incoming;
  const passed = request(`${url}${incoming.url}`, { method, headers }, (response) => {
    outgoing.writeHead(response.statusCode ?? 502, response.headers);
    response.pipe(outgoing);
  });
  passed.on('error', () => outgoing.destroy());
  // A client that is gone, as after a kill, ends what it requested.
  outgoing.on('close', () => passed.destroy());
  incoming.pipe(passed);
}
