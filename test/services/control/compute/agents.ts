import { chmodSync, copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import type { AgentProgram, AgentSpec, RunningAgent } from '../../../../src/services/control/compute/compute.ts';
import { addressOf } from '../../../../src/services/control/gateway/request-agent.ts';
import { processBirth } from '../../../../src/kit/postgres/embedded/process-identity.ts';
import { isOpen } from '../../../installed-packages.ts';

/** A stand-in for the agent server with the same interface to the service. */
export const fakeAgent = join(import.meta.dirname, 'fake-agent.mjs');

/** The stand-in and Node.js, copied to a folder open to all if an agent's user could not reach the checkout. */
export function openFakeAgent(folder: string): { agentServer: string; node: string } {
  const node = process.execPath;
  if (isOpen(import.meta.dirname) && isOpen(dirname(node))) return { agentServer: fakeAgent, node };
  const copies = { agentServer: join(folder, 'fake-agent.mjs'), node: join(folder, 'node') };
  chmodSync(folder, 0o711);
  copyFileSync(fakeAgent, copies.agentServer);
  copyFileSync(node, copies.node);
  return copies;
}

export interface TriedSpec extends AgentSpec {
  program: Extract<AgentProgram, { kind: 'build' }>;
  /** What the agent wrote to its log, as `level: line`. */
  lines: string[];
  remove: () => void;
}

/** Fields that most tests ignore. */
export const plainSpec = {
  secretReferences: [],
  resourceSpec: undefined,
  deploymentType: undefined,
  namespace: undefined,
  tracing: undefined,
};

/** A spec for the stand-in, with the given variables as its secrets. */
export function specOf(variables: Record<string, string> = {}): TriedSpec {
  const folder = mkdtempSync(join(tmpdir(), 'landfall-compute-'));
  const lines: string[] = [];
  return {
    deploymentId: 'd-1',
    revisionId: 'r-1',
    name: 'tried',
    program: {
      kind: 'build',
      sourceText: 'commit 1234567',
      folder,
      graphConfigFile: join(folder, 'langgraph.json'),
      homeFolder: join(folder, 'home'),
    },
    databaseUrl: 'postgres://role:database-password@127.0.0.1:1/agent',
    secrets: Object.entries(variables).map(([name, value]) => ({ name, value })),
    ...plainSpec,
    log: (level, message) => lines.push(`${level}: ${message}`),
    lines,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Sends a request to a running agent, as the gateway would. */
export const ask = (
  { origin, token: own }: Pick<RunningAgent, 'origin' | 'token'>,
  path: string,
  token = own,
): Promise<Response> =>
  new Promise((resolve, reject) => {
    const headers = { 'x-landfall-agent-token': token };
    const outgoing = request({ ...addressOf(origin), path, headers, agent: false }).end();
    outgoing.on('error', reject).on('response', (incoming) => {
      resolve(new Response(Readable.toWeb(incoming), { status: incoming.statusCode ?? 0 }));
    });
  });

/** Whether a process with this id runs; false for one that has exited but was not reaped. */
export const runs = (pid: number): boolean => processBirth(pid) !== undefined;

/** Waits until a condition holds; relies on the time limit of the test otherwise. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 10));
}
