import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import * as z from 'zod';
import type { GitHubForDemo } from './github/github.ts';

/** The services as `npm run local -- --json` starts them. */
export type LocalService = Awaited<ReturnType<typeof startLocalService>>;

/** The App as `npm start` starts it. */
export type AppProcess = Awaited<ReturnType<typeof startAppProcess>>;

/** The time limit for a program to become ready (ms). */
const readyWithinMs = 60_000;

/** Whether this runs from the sources. A built package has one file for each program. */
const isSource = import.meta.filename.endsWith('.ts');

const ready = z.object({ url: z.string(), api_key: z.string(), tenant_id: z.string(), sign_in_link: z.string() });

/** Starts both services and waits for the line with their address and keys. */
export async function startLocalService({
  root,
  data,
  allowGit,
  oidcIssuer,
  port = 0,
  env = process.env,
}: {
  /** The folder of this package. */
  root: string;
  data: string;
  /** A folder whose repositories may be cloned; without it only remote ones may. */
  allowGit?: string;
  /** An issuer whose tokens trust policies may name, beside GitHub. */
  oidcIssuer?: string;
  /** The port on 127.0.0.1; a free one when absent. */
  port?: number;
  /** The environment of the services; this process's own when absent. */
  env?: NodeJS.ProcessEnv;
}) {
  const file = isSource ? [join(root, 'src/services/control/main.ts')] : [join(import.meta.dirname, 'cli.js'), 'local'];
  const allowed = allowGit === undefined ? [] : ['--allow-git', allowGit];
  const issuers = oidcIssuer === undefined ? [] : ['--oidc-issuer', oidcIssuer];
  const args = [...file, '--port', String(port), '--data', data, '--json', ...allowed, ...issuers];
  const { program, output, ended } = startProgram(args, { env });
  const readyLine = await Promise.race([
    readReadyLine(output),
    ended.then(() => undefined),
    pause(readyWithinMs, undefined, { ref: false }),
  ]);
  if (!readyLine) throw await startFailure('The services', program);
  return {
    ...program,
    url: readyLine.url,
    apiKey: readyLine.api_key,
    tenantId: readyLine.tenant_id,
    signInLink: readyLine.sign_in_link,
  };
}

const readReadyLine = (output: Interface): Promise<z.infer<typeof ready>> =>
  new Promise((resolve) => {
    output.on('line', (line) => {
      if (line.startsWith('{')) resolve(ready.parse(JSON.parse(line)));
    });
  });

/** Starts the App and waits until it is ready to take webhooks. */
export async function startAppProcess({
  root,
  github,
  service,
  data,
  port,
  settings = {},
}: {
  /** The folder of this package. */
  root: string;
  github: Pick<GitHubForDemo, 'url' | 'app'>;
  service: Pick<LocalService, 'url' | 'apiKey' | 'tenantId'>;
  /** A folder of its own, kept from one start to the next. */
  data: string;
  /** The port on 127.0.0.1, the same at every start: GitHub gets it once. */
  port: number;
  /** Its other settings. */
  settings?: Readonly<Record<string, string>>;
}) {
  await mkdir(data, { recursive: true });
  const url = `http://127.0.0.1:${port}`;
  const file = isSource ? join(root, 'app/main.ts') : join(import.meta.dirname, 'app.js');
  const { program, isRunning } = startProgram([file], {
    // A folder without an `.env` file.
    cwd: data,
    env: {
      ...inheritedVariables,
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
      ...settings,
    },
  });
  if (!(await isReady(url, isRunning))) throw await startFailure('The App', program);
  return { ...program, url, webhookUrl: `${url}/api/github/webhooks` };
}

/** The only variables that the App inherits: others may be settings of another App. */
const inheritedVariables = Object.fromEntries(
  ['PATH', 'HOME', 'USER', 'TMPDIR', 'NODE_COMPILE_CACHE'].map((name) => [name, process.env[name]]),
);

async function isReady(url: string, isRunning: () => boolean): Promise<boolean> {
  const until = performance.now() + readyWithinMs;
  while (isRunning() && performance.now() < until) {
    // Connections are refused until the App listens.
    const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(2_000) }).catch(() => undefined);
    if (response?.ok) return true;
    await pause(100);
  }
  return false;
}

/** Starts a program of this package in a process of its own. */
function startProgram(args: readonly string[], options: { cwd?: string; env: NodeJS.ProcessEnv }) {
  const child = spawn(process.execPath, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(child, 'close');
  if (child.pid === undefined) throw new Error(`${args[0]} could not be started`);
  const lines: string[] = [];
  const output = createInterface({ input: child.stdout });
  for (const printed of [output, createInterface({ input: child.stderr })]) {
    printed.on('line', (line) => lines.push(line));
  }
  const isRunning = (): boolean => child.exitCode === null && child.signalCode === null;
  const stopWith = async (signal: NodeJS.Signals): Promise<void> => {
    if (!isRunning()) return;
    child.kill(signal);
    await ended;
  };
  const program = {
    pid: child.pid,
    /** What it printed so far, standard error included. */
    log: () => lines.join('\n'),
    /** Stops it and waits until it has exited. */
    stop: () => stopWith('SIGTERM'),
    /** Kills it as a power cut would. */
    kill: () => stopWith('SIGKILL'),
  };
  return { program, output, ended, isRunning };
}

async function startFailure(name: string, program: ReturnType<typeof startProgram>['program']): Promise<Error> {
  await program.kill();
  return new Error(`${name} did not start:\n${program.log().split('\n').slice(-20).join('\n')}`);
}
