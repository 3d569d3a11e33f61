import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pythonEngineProblem } from '../../../../agent-folder/packages/python/python-versions.ts';
import { secretsIn } from '../../environment.ts';
import { StartupError } from '../../startup-error.ts';
import { Connection, WorkerGone, type ConnectionHandlers } from './connection.ts';
import type { Hello, Sign } from './headers.ts';

/** The version of the protocol that both sides speak (docs/design/python-worker.md). */
const protocol = 2;

/** Two folders above the built files, five above the sources. */
const program = ['../../python', '../../../../../python']
  .map((folder) => join(import.meta.dirname, folder, 'landfall_worker'))
  .find(existsSync);

/** How many of its last lines are told of a worker that ended. */
const maxLines = 20;
/** How long (ms) after its exit lines are read. */
const lastLinesMs = 1_000;

export interface WorkerOptions extends Omit<ConnectionHandlers, 'hello' | 'closed'> {
  /** The interpreter of the agent's environment. */
  python: string;
  folder: string;
  /** All that the agent's code sees of the environment. */
  environment: NodeJS.ProcessEnv;
  print: (line: string) => void;
  /** Whether the end of the worker is explained with what it printed last. */
  tellsLines: boolean;
}

/** A worker that is connected. */
export interface Worker {
  connection: Connection;
  hello: Hello;
  /** Ends it, and resolves once it has exited. */
  close(): Promise<void>;
  /** Ends it at once, as if it had failed. */
  kill(why: string): void;
}

/** Starts a worker and waits until it is connected. @throws WorkerGone if it exits before, with its last lines. */
export async function startWorker(options: WorkerOptions): Promise<Worker> {
  const { python, folder, environment, print, tellsLines, ...handlers } = options;
  if (program === undefined) throw new Error('The worker for Python is missing. Install Landfall again.');
  // A socket's path has at most 103 characters, and TMPDIR may be deep.
  const place = await mkdtemp('/tmp/landfall-worker-');
  const server = createServer();
  try {
    const path = join(place, 'socket');
    server.listen(path);
    await once(server, 'listening');
    const child = spawn(python, ['-X', 'utf8', '-u', program, path], {
      cwd: folder,
      env: environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const lines = new LastLines(environment);
    for (const input of [child.stdout, child.stderr])
      createInterface({ input }).on('line', (line) => {
        if (tellsLines) lines.add(line);
        print(line);
      });
    let killedFor: string | undefined;
    const exit = Promise.withResolvers<WorkerGone>();
    child.once('error', (error) => exit.resolve(new WorkerGone(`${python} can't be started: ${error.message}`)));
    const exited = (code: number | null, signal: string | null): void =>
      exit.resolve(new WorkerGone(lines.explain(code, signal, killedFor)));
    child.once('close', exited);
    // A program that the agent started may live on, and keep what it printed to open.
    child.once('exit', (code, signal) => setTimeout(exited, lastLinesMs, code, signal).unref());
    const failed = exit.promise.then((gone) => Promise.reject(gone));
    failed.catch(() => undefined);
    const accepted = once(server, 'connection').then(([socket]: Socket[]) => socket);
    const socket = await Promise.race([accepted, failed]);
    if (!socket) throw new WorkerGone('The worker has not connected.');
    const { promise: hello, resolve } = Promise.withResolvers<Hello>();
    const connection = new Connection(socket, {
      ...handlers,
      hello: resolve,
      sign: (sign) => {
        if (sign.kind === 'beat') lines.memory = sign.memory;
        handlers.sign?.(sign);
      },
      // The process says more than its connection.
      closed: () => {
        child.kill('SIGKILL');
        return exit.promise;
      },
    });
    const said = await Promise.race([hello, failed]);
    if (said.protocol !== protocol) {
      child.kill('SIGKILL');
      throw new WorkerGone(`The worker speaks version ${said.protocol} of the protocol instead of ${protocol}.`);
    }
    return {
      connection,
      hello: said,
      async close() {
        connection.end(new WorkerGone('The worker is ended.'));
        await exit.promise;
      },
      kill(why) {
        killedFor ??= why;
        child.kill('SIGKILL');
      },
    };
  } finally {
    server.close();
    await rm(place, { recursive: true, force: true });
  }
}

/** The version of a worker's engine. @throws StartupError for one that is missing or too old. */
export function supportedEngine({ engine }: Hello): string {
  const problem = pythonEngineProblem(engine ?? undefined);
  if (engine !== null && problem === undefined) return engine;
  throw new StartupError(engine === null ? 'engine-missing' : 'engine-too-old', problem === undefined ? [] : [problem]);
}

/** What a worker printed last, without the secrets of its environment. */
class LastLines {
  memory: Extract<Sign, { kind: 'beat' }>['memory'] | undefined;
  readonly #lines: string[] = [];
  readonly #mask: (text: string) => string;

  constructor(environment: NodeJS.ProcessEnv) {
    this.#mask = secretsIn(environment);
  }

  add(line: string): void {
    this.#lines.push(line.slice(0, 500));
    if (this.#lines.length > maxLines) this.#lines.shift();
  }

  /** How it ended: by itself, by a signal, or for a reason of this server. */
  explain(code: number | null, signal: string | null, killedFor: string | undefined): string {
    const how = signal === null ? `exited with code ${code}` : `was ended by ${signal}`;
    const memory =
      this.memory === undefined ? '' : ` It had up to ${Math.round(this.memory / 1024 ** 2)} MB of memory.`;
    const reason = killedFor === undefined ? '' : ` ${killedFor}`;
    const last = this.#lines.length === 0 ? '' : `\nIts last lines:\n${this.#mask(this.#lines.join('\n'))}`;
    return `The Python process of the agent ${how}.${reason}${memory}${last}`;
  }
}
