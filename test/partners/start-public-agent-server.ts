import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import * as z from 'zod';
import { readGraphConfig } from '../../src/agent-folder/graph-config/read.ts';
import { installPackages } from './install-packages.ts';

const partner = join(import.meta.dirname, 'public-agent-server');
const examples = resolve(import.meta.dirname, '../../examples');

/** Installs the server's packages where they are not there. */
export const installPublicAgentServer = (): Promise<void> => installPackages(partner);

/** The public JavaScript agent server, in a process of its own. */
export interface PublicAgentServer {
  url: string;
  /** The id of its process. */
  readonly pid: number;
  /** Kills the process, by its id, and starts another one on the same folder, at another address. */
  startAgain(): Promise<void>;
  /** Ends the process, by its id, and removes its folder. */
  stop(): Promise<void>;
}

/** Starts the server with the graphs of these examples (names or paths of folders), in memory. Its packages have to be there. */
export async function startPublicAgentServer(...names: readonly string[]): Promise<PublicAgentServer> {
  // Below the server's own package, so that graphs and server share one engine.
  mkdirSync(join(partner, '.agent'), { recursive: true });
  const folder = mkdtempSync(join(partner, '.agent', 'run-'));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    const graphs = names.flatMap(copied(folder));
    let served = await serve(folder, graphs);
    return {
      get url() {
        return served.url;
      },
      get pid() {
        return served.pid;
      },
      async startAgain() {
        await served.kill();
        served = await serve(folder, graphs);
      },
      async stop() {
        await served.kill();
        remove();
      },
    };
  } catch (error) {
    remove();
    throw error;
  }
}

/** Serves what a folder has by one process. */
async function serve(
  folder: string,
  graphs: readonly string[],
): Promise<{ url: string; pid: number; kill: () => Promise<void> }> {
  const child = spawn(process.execPath, ['--import', 'tsx', 'serve.mjs', folder, ...graphs], {
    cwd: partner,
    // It reads schemas with a compiler, which takes longer on a busy machine than the half minute that it allows.
    env: { ...process.env, LANGGRAPH_SCHEMA_RESOLVE_TIMEOUT_MS: '180000' },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (text) => (said = `${said}${text}`.slice(-2_000)));
  const gone = new Promise<void>((leave) => child.once('close', () => leave()));
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await gone;
  };
  try {
    const url = await new Promise<string>((found, fail) => {
      child.once('error', fail);
      child.once('close', (code) => fail(new Error(`the public agent server ended with ${code}: ${said}`)));
      createInterface({ input: child.stdout }).on('line', (line) => {
        said = `${said}${line}\n`.slice(-2_000);
        if (line.startsWith('{"url"')) found(z.object({ url: z.url() }).parse(JSON.parse(line)).url);
      });
    });
    return { url, pid: z.int().parse(child.pid), kill };
  } catch (error) {
    await kill();
    throw error;
  }
}

/** Copies an example into the folder; returns its graphs as `id=./path:export`, and `--auth` with its rules of access. */
const copied = (folder: string) => (example: string) => {
  const name = basename(example);
  cpSync(resolve(examples, example), join(folder, name), {
    recursive: true,
    filter: (path) => !path.includes('node_modules'),
  });
  const file = join(folder, name, 'langgraph.json');
  const read = readGraphConfig(readFileSync(file, 'utf8'), file);
  if (!read.ok) throw new Error(`${file}: ${read.problems.map(({ message }) => message).join('; ')}`);
  const { graphs, auth } = read.value;
  const rules = auth?.path === undefined ? [] : [`--auth=./${join(name, auth.path)}`];
  const named = Object.entries(graphs).map(([id, graph]) => {
    const path = typeof graph === 'string' ? graph : graph.path;
    return `${id}=./${join(name, path)}`;
  });
  return [...rules, ...named];
};
