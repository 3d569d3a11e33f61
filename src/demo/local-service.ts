import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import * as z from 'zod';

const ready = z.object({ url: z.string(), api_key: z.string(), tenant_id: z.string() });

/** The services as `npm run local -- --json` starts them, in a process of their own. */
export interface LocalService {
  url: string;
  apiKey: string;
  tenantId: string;
  pid: number;
  /** What it printed so far, standard error included. */
  log(): string;
  /** Stops it and waits until it has exited. */
  stop(): Promise<void>;
  /** Kills it as a power cut would. */
  kill(): Promise<void>;
}

export interface LocalServiceSettings {
  root: string;
  data: string;
  /** A folder below which repositories may be cloned; without it only addresses are. */
  allowGit?: string;
  /** The port on 127.0.0.1; a free one when absent. */
  port?: number;
  /** The environment of the services; this process's own when absent. */
  env?: NodeJS.ProcessEnv;
  /** How long it may take to be ready (ms). */
  withinMs?: number;
}

/** Starts both services and waits for the line that says where they are. */
export async function startLocalService(settings: LocalServiceSettings): Promise<LocalService> {
  const { root, data, allowGit, port = 0, env = process.env, withinMs = 60_000 } = settings;
  const allowed = allowGit === undefined ? [] : ['--allow-git', allowGit];
  const args = [...localProgram(root), '--port', String(port), '--data', data, '--json', ...allowed];
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const lines: string[] = [];
  const ended = once(child, 'close');
  createInterface({ input: child.stderr }).on('line', (line) => lines.push(line));
  const first = await Promise.race([
    firstJson(child, lines),
    ended.then(() => undefined),
    new Promise<undefined>((resolve) => setTimeout(resolve, withinMs, undefined).unref()),
  ]);
  if (!first || child.pid === undefined) {
    child.kill('SIGKILL');
    throw new Error(`The services did not start:\n${lines.slice(-20).join('\n')}`);
  }
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    await ended;
  };
  return {
    url: first.url,
    apiKey: first.api_key,
    tenantId: first.tenant_id,
    pid: child.pid,
    log: () => lines.join('\n'),
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
  };
}

/** From the sources the service's own program; built, where there are no sources, the command line that holds it. */
const localProgram = (root: string): string[] =>
  import.meta.filename.endsWith('.ts')
    ? [join(root, 'src/control-service/main.ts')]
    : [join(import.meta.dirname, 'cli.js'), 'local'];

function firstJson(child: ChildProcess, lines: string[]): Promise<z.infer<typeof ready> | undefined> {
  return new Promise((resolve) => {
    if (!child.stdout) return resolve(undefined);
    createInterface({ input: child.stdout }).on('line', (line) => {
      lines.push(line);
      if (line.startsWith('{')) resolve(ready.parse(JSON.parse(line)));
    });
  });
}
