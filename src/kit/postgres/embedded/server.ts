import { spawn } from 'node:child_process';
import { closeSync, constants, existsSync, openSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { hasCode } from '../../errors.ts';
import { type Clock, endsWithin, steadyNow } from '../../clock.ts';
import { explainSpawn, type Programs, programOptions } from './cluster.ts';
import { type ServerAddress, serverSettings } from './settings.ts';

/** A Postgres process of ours. */
export type Server = ReturnType<typeof spawnServer>;

export interface ServerPlan {
  cluster: string;
  logFile: string;
  address: ServerAddress;
  programs: Programs;
  /** Server settings beyond ours, by name. */
  settings: Record<string, string>;
}

/** The server ended before it took connections. */
export class ServerStartError extends Error {
  /** The end of the server's log. */
  readonly said: string;

  constructor(message: string, said: string) {
    super(`${message}\n${said}`);
    this.name = 'ServerStartError';
    this.said = said;
  }
}

/** Starts Postgres in a process group of its own, so that a Ctrl-C in the terminal does not end it before us. */
export function spawnServer(plan: ServerPlan, clock: Clock) {
  const log = openLog(plan.logFile);
  const child = spawn(join(plan.programs.installation.root, 'bin', 'postgres'), serverArguments(plan), {
    ...programOptions(plan.programs),
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  // It is the caller's to keep the process alive, and to stop the server.
  child.unref();
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(explainSpawn(error, plan.programs).message));
    child.once('exit', (code, signal) => resolve(signal === null ? `exit code ${code}` : `signal ${signal}`));
  });
  // If we end without stopping it, by an uncaught error for example, it gets the word at least.
  const exitNotice = () => child.kill('SIGINT');
  process.once('exit', exitNotice);
  void ended.then(() => process.removeListener('exit', exitNotice));
  return {
    pid: child.pid ?? 0,
    /** Says how it ended, once it did. */
    ended,
    /** Requests a fast shutdown and waits; harsher ways follow, so it always ends. */
    stop: async (): Promise<void> => {
      for (const [signal, ms] of [
        ['SIGINT', 5_000],
        ['SIGQUIT', 2_000],
        ['SIGKILL', 2_000],
      ] as const) {
        child.kill(signal);
        if (await endsWithin(clock, ms, ended)) return;
      }
    },
  };
}

function serverArguments({ cluster, address, settings }: ServerPlan): string[] {
  const all = { ...serverSettings(address), ...settings };
  return ['-D', cluster, ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])];
}

/** Opens the server's log, and keeps the previous one; does not follow a link in its place. */
function openLog(file: string): number {
  if (existsSync(file)) renameSync(file, `${file}.before`);
  const { O_WRONLY, O_CREAT, O_APPEND, O_NOFOLLOW } = constants;
  return openSync(file, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0o600);
}

/** How long (ms) a server may take until it takes connections. */
const readyMs = 120_000;

/** Waits until the server takes connections. Throws a `ServerStartError` when it ends first or is not ready in time. */
export async function untilReady(server: Server, url: string, logFile: string, clock: Clock): Promise<void> {
  let end: string | undefined;
  void server.ended.then((how) => (end = how));
  for (const deadline = steadyNow(clock) + readyMs; ;) {
    if (end !== undefined) {
      throw new ServerStartError(`The embedded Postgres did not start (${end}). Its last words:`, lastLines(logFile));
    }
    const problem = await connectionProblem(url);
    if (problem === undefined) return;
    // A wrong password stays wrong: waiting does not help.
    if (steadyNow(clock) > deadline || hasCode(problem, '28P01', '28000', '3D000')) {
      await server.stop();
      throw new ServerStartError(
        `The embedded Postgres takes no connection (${problem.message}). Its last words:`,
        lastLines(logFile),
      );
    }
    await clock.sleep(20);
  }
}

async function connectionProblem(url: string): Promise<Error | undefined> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  // connect reports the failure; the event repeats it, possibly without a listener.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.end();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

const lastLines = (file: string): string =>
  existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n').slice(-15).join('\n') : '';
