// Runs of graphs in Python by their engine alone, in a process of its own (`bench/python/engine.py`).
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import * as z from 'zod';
import { Round, type RunLoad } from './run-load.ts';

const folder = join(import.meta.dirname, 'python');

/** Starts it on a database; it is ready once its graphs are loaded and the tables are there. */
export async function startPythonLoad(python: string, databaseUrl: string): Promise<RunLoad> {
  const child = spawn(python, [join(folder, 'engine.py'), databaseUrl], {
    cwd: dirname(folder),
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const gone = new Promise<void>((leave) => child.once('close', () => leave()));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<unknown> => {
    const { value, done } = await lines.next();
    if (done) throw new Error('The engine in Python has ended.');
    return JSON.parse(value);
  };
  await next();
  return {
    pid: z.int().parse(child.pid),
    async round(requested) {
      child.stdin.write(`${JSON.stringify(requested)}\n`);
      return Round.parse(await next());
    },
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      await gone;
    },
  };
}
