import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { nodeEnvironment } from '../../node-environment.ts';

const main = join(import.meta.dirname, '../../../src/services/agent/main.ts');

/** A real agent server process. */
export interface AgentProcess {
  child: ChildProcess;
  /** Its base URL. */
  url: string;
  /** Every line written to standard output so far. */
  output: string[];
  /** Every line written to the log so far. */
  log: string[];
  /** Resolves with the exit code, or the signal that ended the process. */
  gone: Promise<number | string>;
}

/** Starts `program` as the control service does and waits until it listens; rejects with its log on failure. */
export async function startAgentProcess(env: Record<string, string>, program = main): Promise<AgentProcess> {
  const started = spawnAgentProcess(env, program);
  const listening = new Promise<number>((resolve) => {
    started.onLine((line) => {
      if (line.startsWith('{"event":"listening"')) resolve(Object(JSON.parse(line)).port);
    });
  });
  const port = await Promise.race([listening, started.gone]);
  if (typeof port === 'string' || started.child.exitCode !== null) {
    throw new Error(`The agent server ended with ${port}:\n${started.log.join('\n')}`);
  }
  return { ...started, url: `http://127.0.0.1:${port}` };
}

/** Spawns `program` with only this environment. */
export function spawnAgentProcess(env: Record<string, string>, program = main) {
  const child = spawn(process.execPath, [program], {
    env: { ...nodeEnvironment(), ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const output: string[] = [];
  const log: string[] = [];
  const listeners: ((line: string) => void)[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => {
    output.push(line);
    for (const listener of listeners) listener(line);
  });
  createInterface({ input: child.stderr }).on('line', (line) => log.push(line));
  const gone = new Promise<number | string>((resolve) => {
    child.once('close', (code, signal) => resolve(code ?? signal ?? 'nothing'));
  });
  return { child, output, log, gone, onLine: (listener: (line: string) => void) => void listeners.push(listener) };
}
