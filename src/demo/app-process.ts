import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { GitHubForDemo } from './github/github.ts';
import type { LocalService } from './local-service.ts';

/** The App as `npm start` starts it, in a process of its own. */
export interface AppProcess {
  url: string;
  /** Where its webhooks go. */
  webhookUrl: string;
  pid: number;
  /** What it printed so far, standard error included. */
  log(): string;
  /** Stops it and waits until it has exited. */
  stop(): Promise<void>;
  /** Kills it as a power cut would. */
  kill(): Promise<void>;
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

/** Starts the App and waits until it is ready to take webhooks. */
export async function startAppProcess(settings: AppProcessSettings): Promise<AppProcess> {
  const { root, github, service, data, port, withinMs = 60_000 } = settings;
  await mkdir(data, { recursive: true });
  const url = `http://127.0.0.1:${port}`;
  const child = spawn(process.execPath, [appProgram(root)], {
    // A folder that holds no `.env` of anybody's.
    cwd: data,
    env: {
      ...own(['PATH', 'HOME', 'USER', 'TMPDIR']),
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
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    createInterface({ input: stream }).on('line', (line) => lines.push(line));
  const ended = once(child, 'close');
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    await ended;
  };
  const isRunning = (): boolean => child.exitCode === null && child.signalCode === null;
  if (child.pid === undefined || !(await isReady(url, isRunning, withinMs))) {
    await end('SIGKILL');
    throw new Error(`The App did not start:\n${lines.slice(-20).join('\n')}`);
  }
  return {
    url,
    webhookUrl: `${url}/api/github/webhooks`,
    pid: child.pid,
    log: () => lines.join('\n'),
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
  };
}

/** From the sources the App's own program; built, where there are no sources, what was built of it. */
const appProgram = (root: string): string =>
  import.meta.filename.endsWith('.ts') ? join(root, 'app/main.ts') : join(import.meta.dirname, 'app.js');

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
