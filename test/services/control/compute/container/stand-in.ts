import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentSpec } from '../../../../../src/services/control/compute/compute.ts';
import { plainSpec } from '../agents.ts';

type Oddity = 'kind' | 'silent' | 'listless' | 'clinging';

/** A stand-in for the command of an engine. */
export interface StandIn {
  /** Its path. */
  command: string;
  /** The environment that selects this stand-in. */
  env: Record<string, string>;
  /** Its calls, in order. */
  calls(): { args: string[]; env: Record<string, string> }[];
  /** The names of existing resources. */
  there(kind: 'containers' | 'networks' | 'volumes'): string[];
  /**
   * Enables a fault: `kind` for Podman, `silent` for an unavailable server, `listless` for failing lists, and
   * `clinging` for volumes that can't be removed.
   */
  is(what: Oddity): void;
  /** Disables a fault. */
  forget(what: Oddity): void;
  remove(): void;
}

const list = (folder: string): string[] => (existsSync(folder) ? readdirSync(folder) : []);

export function standIn(): StandIn {
  const folder = mkdtempSync(join(tmpdir(), 'landfall-engine-'));
  const command = join(folder, 'docker');
  const quoted = [
    process.execPath,
    join(import.meta.dirname, 'agent.mjs'),
    join(import.meta.dirname, 'stand-in-engine.sh'),
  ];
  const [node, agent, script] = quoted.map((path) => `'${path}'`);
  writeFileSync(command, `#!/bin/sh\nNODE=${node} AGENT=${agent} exec /bin/sh ${script} "$@"\n`);
  chmodSync(command, 0o755);
  const noted = (file: string): string[] =>
    readFileSync(join(folder, 'calls', file), 'utf8')
      .split('\0')
      .slice(0, -1);
  return {
    command,
    env: { PATH: process.env.PATH ?? '', CONTAINER_STAND_IN: folder },
    calls: () =>
      list(join(folder, 'calls'))
        .filter((name) => name.endsWith('.env'))
        .toSorted()
        .map((name) => ({
          args: noted(name.replace(/env$/, 'args')),
          env: Object.fromEntries(
            noted(name).map((line) => [line.split('=', 1)[0] ?? '', line.slice(line.indexOf('=') + 1)]),
          ),
        })),
    there: (kind) => list(join(folder, kind)),
    is: (what) => writeFileSync(join(folder, what), ''),
    forget: (what) => rmSync(join(folder, what)),
    // An aborted call may still write its record.
    remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }),
  };
}

/** A server at the address of a database that sends `the database` to each client. */
export async function databaseDouble(): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer((socket) => socket.on('error', () => undefined).end('the database'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('it listens at no port');
  return {
    url: `postgres://role:database-password@127.0.0.1:${address.port}/agent`,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** A server that agents report runs to; records method, path, authorization and body. */
export async function collector(): Promise<{ origin: string; heard: string[]; close(): Promise<void> }> {
  const heard: string[] = [];
  const server = createHttpServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
    request.once('end', () => {
      heard.push(`${request.method} ${request.url} ${request.headers.authorization} ${body}`);
      response.writeHead(202).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('it listens at no port');
  return {
    origin: `http://127.0.0.1:${address.port}`,
    heard,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export const deploymentId = '5b7a3a58-3f5e-4c36-9d3c-2f7f0e4f2a11';

/** A spec to run an image, and what it logged. */
export function imageSpec(
  imageUri: string,
  databaseUrl: string,
  changes: Partial<AgentSpec> = {},
): AgentSpec & { lines: string[] } {
  const lines: string[] = [];
  return {
    deploymentId,
    revisionId: 'r-1',
    name: 'tried',
    program: { kind: 'image', imageUri },
    databaseUrl,
    secrets: [],
    ...plainSpec,
    log: (level, message) => lines.push(`${level}: ${message}`),
    lines,
    ...changes,
  };
}
