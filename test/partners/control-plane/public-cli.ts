import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import * as z from 'zod';
import { installPackages } from '../install-packages.ts';

const packages = import.meta.dirname;

/** Installs the public command line where it is not there. */
export const installPublicCli = (): Promise<void> => installPackages(packages);

/** Where the public command line is pointed at, and as whom. */
export interface Pointed {
  /** The address that it is told by its own setting, `--host-url`. */
  url: string;
  apiKey: string;
  /** The folder that it is called in. */
  cwd: string;
  env?: Readonly<Record<string, string>>;
}

/** How a command ended. */
export interface CliEnd {
  code: number | null;
  stdout: string;
  stderr: string;
  /** The events of `--json`, in their order; nothing without that. */
  events: readonly Record<string, unknown>[];
}

/**
 * Runs `langgraphjs deploy` as it is published, in a process of its own whose search path has neither Docker nor anything
 * else: what it builds, it builds at the service. It sends its vendor nothing.
 */
export async function publicCli(args: readonly string[], { url, apiKey, cwd, env = {} }: Pointed): Promise<CliEnd> {
  const program = join(packages, 'node_modules/@langchain/langgraph-cli/dist/cli/cli.mjs');
  const child = spawn(process.execPath, [program, 'deploy', ...args, '--host-url', url], {
    cwd,
    env: {
      PATH: dirname(process.execPath),
      HOME: cwd,
      NO_COLOR: '1',
      LANGGRAPH_CLI_NO_ANALYTICS: '1',
      LANGSMITH_API_KEY: apiKey,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: child.exitCode, stdout, stderr, events: stdout.split('\n').flatMap(eventOf) };
}

const event = z.record(z.string(), z.unknown());

function eventOf(line: string): Record<string, unknown>[] {
  return line.startsWith('{') ? [event.parse(JSON.parse(line))] : [];
}
