import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { nodeEnvironment } from '../../node-environment.ts';

/** A copy of the App: a process of its own, as `npm start` runs it. */
export interface AppCopy {
  url: string;
  pid: number;
  /** What it printed, standard error included. */
  said(): string;
  /** A count of its metrics: the sum over every line of this name that holds `label`. */
  count(name: string, label?: string): Promise<number>;
  /** Stops it and waits until it has exited. @returns its exit code */
  stop(): Promise<number | null>;
}

const main = join(import.meta.dirname, '../../../app/main.ts');

/** Starts a copy in a folder of its own, with these settings and nothing of this machine's. */
export async function startAppCopy(folder: string, settings: Readonly<Record<string, string>>): Promise<AppCopy> {
  const child = spawn(process.execPath, [main], {
    cwd: folder,
    env: { ...nodeEnvironment(), HOME: folder, HOST: '127.0.0.1', PORT: '0', ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  const ended = once(child, 'close');
  const url = await new Promise<string>((resolve, reject) => {
    const hear = (chunk: Buffer): void => {
      said += chunk.toString();
      const found = /The App listens at (\S+)/.exec(said)?.[1];
      if (found) resolve(found);
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    void ended.then(() => reject(new Error(`The App ended before it listened:\n${said}`)));
  });
  if (child.pid === undefined) throw new Error('The App has no process');
  return {
    url,
    pid: child.pid,
    said: () => said,
    async count(name, label = '') {
      const metrics = await (await fetch(`${url}/metrics`)).text();
      return metrics
        .split('\n')
        .filter((line) => line.startsWith(name) && line.includes(label))
        .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
    },
    async stop() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
      await ended;
      return child.exitCode;
    },
  };
}
