import { chmodSync, copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import type { AgentProgram, AgentSpec, RunningAgent } from '../../../src/control-service/compute/compute.ts';
import { addressOf } from '../../../src/control-service/gateway/agent-address.ts';
import { processBirth } from '../../../src/postgres/embedded/process-identity.ts';
import { isOpen } from '../../installed-packages.ts';

/** A stand-in for the agent server that keeps the same contract with its starter. */
export const fakeAgent = join(import.meta.dirname, 'fake-agent.mjs');

/** The same with Node.js, copied to a folder, which is opened for all, where an agent's own user could not reach the checkout. */
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

/** Nothing that most tests look at. */
export const plainSpec = {
  secretReferences: [],
  resourceSpec: undefined,
  deploymentType: undefined,
  namespace: undefined,
  tracing: undefined,
};

/** What it takes to run the stand-in, with the given variables as its secrets. */
export function specOf(variables: Record<string, string> = {}): TriedSpec {
  const folder = mkdtempSync(join(tmpdir(), 'landfall-compute-'));
  const lines: string[] = [];
  return {
    deploymentId: 'd-1',
    revisionId: 'r-1',
    name: 'tried',
    program: {
      kind: 'build',
      madeOf: 'commit 1234567',
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

/** Asks a running agent, as the gateway would. */
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

/** Whether a process with this id runs; one that has ended and was not taken note of does not. */
export const runs = (pid: number): boolean => processBirth(pid) !== undefined;

/** Waits until something holds; fails the test by its own time limit when it never does. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 10));
}
