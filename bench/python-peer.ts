// Other agent servers in Python, by their packages from PyPI: `langgraph dev`, which keeps everything in memory, and
// with LANDFALL_BENCH_PEER=aegra Aegra, which has Postgres.
import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import * as z from 'zod';
import { messageOf } from '../src/kit/errors.ts';
import { freePort } from '../src/kit/free-port.ts';
import type { BenchAgentServer } from './agent-servers.ts';

const folder = join(import.meta.dirname, 'python');
/** How long (ms) its packages may take to be installed, and it to start. */
const [installMs, startMs] = [900_000, 120_000];

interface Peer {
  /** What it is, in the table of figures. */
  note: string;
  /** The file with its packages. */
  requirements: string;
  /** The name of its interpreter; that of our agent where this is absent. */
  python?: string;
  program: string;
  args(port: number): string[];
  env(databaseUrl: string): Record<string, string>;
}

const langgraphDev: Peer = {
  note: 'langgraph dev, in memory',
  requirements: 'requirements-peer.txt',
  program: 'langgraph',
  args: (port) => ['dev', '--no-browser', '--no-reload', '--port', String(port), '--n-jobs-per-worker', '50'],
  env: () => ({}),
};
const aegra: Peer = {
  note: 'Aegra, in the same Postgres',
  requirements: 'requirements-aegra.txt',
  python: 'python3.12',
  program: 'uvicorn',
  args: (port) => ['aegra_api.main:app', '--host', '127.0.0.1', '--port', String(port), '--log-level', 'error'],
  env: (databaseUrl) => ({
    DATABASE_URL: databaseUrl,
    AEGRA_CONFIG: join(folder, 'langgraph.json'),
    AUTH_TYPE: 'noop',
    LOG_LEVEL: 'ERROR',
  }),
};

export const pythonPeer = process.env['LANDFALL_BENCH_PEER'] === 'aegra' ? aegra : langgraphDev;

/** Starts it; undefined where its packages are not there and can't be had. */
export async function startPythonPeer(
  python: string,
  { environments, databaseUrl }: { environments: string; databaseUrl: string },
): Promise<BenchAgentServer | undefined> {
  const environment = join(environments, pythonPeer.requirements.replace('.txt', ''));
  try {
    await install(pythonPeer.python ?? python, environment);
    return await start(environment, databaseUrl);
  } catch (error) {
    console.error(`No peer: it could not be started (${messageOf(error)}).`);
    return undefined;
  }
}

async function install(python: string, environment: string): Promise<void> {
  if (existsSync(join(environment, 'bin', pythonPeer.program))) return;
  const run = (program: string, args: readonly string[]) =>
    promisify(execFile)(program, args, { timeout: installMs, killSignal: 'SIGKILL' });
  await run(python, ['-m', 'venv', environment]);
  // Some of its packages have no wheel.
  const requirements = join(folder, pythonPeer.requirements);
  await run(join(environment, 'bin/python'), ['-m', 'pip', 'install', '-q', '-r', requirements]);
}

async function start(environment: string, databaseUrl: string): Promise<BenchAgentServer> {
  const port = await freePort();
  const child = spawn(join(environment, 'bin', pythonPeer.program), pythonPeer.args(port), {
    cwd: folder,
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1', ...pythonPeer.env(databaseUrl) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (piece: Buffer) => (said = `${said}${piece.toString()}`.slice(-2_000)));
  const gone = new Promise<void>((leave) => child.once('close', () => leave()));
  const end = async (): Promise<void> => {
    child.kill('SIGKILL');
    await gone;
  };
  const url = `http://127.0.0.1:${port}`;
  const began = performance.now();
  while (
    !(await fetch(`${url}/info`).then(
      ({ ok }) => ok,
      () => false,
    ))
  ) {
    if (child.exitCode === null && performance.now() - began < startMs) await sleep(50);
    else {
      await end();
      throw new Error(`it does not answer: ${said}`);
    }
  }
  return { url, pid: z.int().parse(child.pid), [Symbol.asyncDispose]: end };
}
