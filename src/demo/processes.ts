import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import * as z from 'zod';
import type { GitHubForDemo } from './github/github.ts';

/** A program of this package in a process of its own. */
export interface Program {
  pid: number;
  /** What it printed so far, standard error included. */
  log(): string;
  /** Stops it and waits until it has exited. */
  stop(): Promise<void>;
  /** Kills it as a power cut would. */
  kill(): Promise<void>;
}

/** The services as `npm run local -- --json` starts them. */
export interface LocalService extends Program {
  url: string;
  apiKey: string;
  tenantId: string;
}

export interface LocalServiceSettings {
  /** The folder of this package. */
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

/** The App as `npm start` starts it. */
export interface AppProcess extends Program {
  url: string;
  /** Where its webhooks go. */
  webhookUrl: string;
}

export interface AppProcessSettings {
  /** The folder of this package. */
  root: string;
  github: Pick<GitHubForDemo, 'url' | 'app'>;
  service: Pick<LocalService, 'url' | 'apiKey' | 'tenantId'>;
  /** A folder of its own, kept from one start to the next. */
  data: string;
  /** The port on 127.0.0.1, the same at every start: GitHub gets it once. */
  port: number;
  /** How long it may take to be ready (ms). */
  withinMs?: number;
}

/** A started process and its output. */
interface Started {
  program: Program;
  /** Standard output, line by line. */
  output: Interface;
  ended: Promise<unknown>;
  isRunning: () => boolean;
}

/** Whether this runs from the sources: built, there is one file for each program. */
const isSource = import.meta.filename.endsWith('.ts');

const ready = z.object({ url: z.string(), api_key: z.string(), tenant_id: z.string() });

/** Starts both services and waits for the line that says where they are. */
export async function startLocalService(settings: LocalServiceSettings): Promise<LocalService> {
  const { root, data, allowGit, port = 0, env = process.env, withinMs = 60_000 } = settings;
  const file = isSource ? [join(root, 'src/control-service/main.ts')] : [join(import.meta.dirname, 'cli.js'), 'local'];
  const allowed = allowGit === undefined ? [] : ['--allow-git', allowGit];
  const args = [...file, '--port', String(port), '--data', data, '--json', ...allowed];
  const { program, output, ended } = startProgram(args, { env });
  const first = await Promise.race([
    firstJson(output),
    ended.then(() => undefined),
    new Promise<undefined>((resolve) => setTimeout(resolve, withinMs, undefined).unref()),
  ]);
  if (!first) throw await notStarted('The services', program);
  return { ...program, url: first.url, apiKey: first.api_key, tenantId: first.tenant_id };
}

const firstJson = (output: Interface): Promise<z.infer<typeof ready>> =>
  new Promise((resolve) => {
    output.on('line', (line) => {
      if (line.startsWith('{')) resolve(ready.parse(JSON.parse(line)));
    });
  });

/** Starts the App and waits until it is ready to take webhooks. */
export async function startAppProcess(settings: AppProcessSettings): Promise<AppProcess> {
  const { root, github, service, data, port, withinMs = 60_000 } = settings;
  await mkdir(data, { recursive: true });
  const url = `http://127.0.0.1:${port}`;
  const file = isSource ? join(root, 'app/main.ts') : join(import.meta.dirname, 'app.js');
  const { program, isRunning } = startProgram([file], {
    // A folder that holds no `.env` of anybody's.
    cwd: data,
    env: {
      ...own(['PATH', 'HOME', 'USER', 'TMPDIR', 'NODE_COMPILE_CACHE']),
      APP_ID: String(github.app.id),
      PRIVATE_KEY: github.app.privateKey,
      WEBHOOK_SECRET: github.app.webhookSecret,
      GITHUB_API_URL: github.url,
      LANDFALL_BASE_URL: service.url,
      LANDFALL_API_KEY: service.apiKey,
      LANDFALL_TENANT_ID: service.tenantId,
      LANDFALL_DATA: data,
      PUBLIC_URL: url,
      HOST: '127.0.0.1',
      PORT: String(port),
    },
  });
  if (!(await isReady(url, isRunning, withinMs))) throw await notStarted('The App', program);
  return { ...program, url, webhookUrl: `${url}/api/github/webhooks` };
}

/** Nothing else of this process's environment is the App's: it may hold settings of another App. */
const own = (names: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    names.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );

async function isReady(url: string, isRunning: () => boolean, withinMs: number): Promise<boolean> {
  const until = performance.now() + withinMs;
  while (isRunning() && performance.now() < until) {
    if (await answersOk(`${url}/readyz`)) return true;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return false;
}

/** Until it listens a connection is refused, which is no answer. */
const answersOk = (url: string): Promise<boolean> =>
  fetch(url, { signal: AbortSignal.timeout(2_000) }).then(
    ({ ok }) => ok,
    () => false,
  );

function startProgram(args: readonly string[], options: { cwd?: string; env: NodeJS.ProcessEnv }): Started {
  const child = spawn(process.execPath, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(child, 'close');
  if (child.pid === undefined) throw new Error(`${args[0]} could not be started`);
  const lines: string[] = [];
  const output = createInterface({ input: child.stdout });
  for (const printed of [output, createInterface({ input: child.stderr })]) {
    printed.on('line', (line) => lines.push(line));
  }
  const isRunning = (): boolean => child.exitCode === null && child.signalCode === null;
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (!isRunning()) return;
    child.kill(signal);
    await ended;
  };
  const program: Program = {
    pid: child.pid,
    log: () => lines.join('\n'),
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
  };
  return { program, output, ended, isRunning };
}

async function notStarted(who: string, program: Program): Promise<Error> {
  await program.kill();
  return new Error(`${who} did not start:\n${program.log().split('\n').slice(-20).join('\n')}`);
}

/** A port of 127.0.0.1 that is free now. Another process may take it before it is used. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (typeof address !== 'object' || address === null) throw new Error('this machine has no free port');
  return address.port;
}
