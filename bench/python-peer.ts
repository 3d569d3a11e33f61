// The public server in Python, by its package from PyPI: `langgraph dev`, which keeps everything in memory.
import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import * as z from 'zod';
import { messageOf } from '../src/errors.ts';
import type { BenchAgentServer } from './agent-servers.ts';
import { listening } from './bare-server.ts';

const folder = join(import.meta.dirname, 'python');
/** How long (ms) its packages may take to be installed, and it to start. */
const [installMs, startMs] = [900_000, 120_000];

/** Starts it; undefined where its packages are not there and can't be had. */
export async function startPythonPeer(python: string, environment: string): Promise<BenchAgentServer | undefined> {
  try {
    await install(python, environment);
    return await start(environment);
  } catch (error) {
    console.error(`No peer: the public server in Python could not be started (${messageOf(error)}).`);
    return undefined;
  }
}

async function install(python: string, environment: string): Promise<void> {
  const langgraph = join(environment, 'bin/langgraph');
  if (existsSync(langgraph)) return;
  const run = (program: string, args: readonly string[]) =>
    promisify(execFile)(program, args, { timeout: installMs, killSignal: 'SIGKILL' });
  await run(python, ['-m', 'venv', environment]);
  const requirements = join(folder, 'requirements-peer.txt');
  // Some of its packages have no wheel.
  await run(join(environment, 'bin/python'), ['-m', 'pip', 'install', '-q', '-r', requirements]);
}

async function start(environment: string): Promise<BenchAgentServer> {
  const free = createServer();
  const port = await listening(free);
  await new Promise((closed) => free.close(closed));
  const options = ['--no-browser', '--no-reload', '--port', String(port), '--n-jobs-per-worker', '50'];
  const child = spawn(join(environment, 'bin/langgraph'), ['dev', ...options], {
    cwd: folder,
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' },
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
    !(await fetch(`${url}/ok`).then(
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
