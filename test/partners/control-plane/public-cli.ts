import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import * as z from 'zod';
import { installPackages } from '../install-packages.ts';

const packages = import.meta.dirname;

/** Installs the public command line if it is missing. */
export const installPublicCli = (): Promise<void> => installPackages(packages);

/** The service and the credentials for the public command line. */
export interface CliTarget {
  /** The address for its own setting, `--host-url`. */
  url: string;
  apiKey: string;
  /** Its working directory. */
  cwd: string;
  env?: Readonly<Record<string, string>>;
}

/** How a command exited. */
export interface CliEnd {
  code: number | null;
  stdout: string;
  stderr: string;
  /** The events of `--json`, in order; empty without it. */
  events: readonly Record<string, unknown>[];
}

/**
 * Runs `langgraphjs deploy` as published, in a process whose PATH has no Docker, so the service builds. Telemetry to
 * its vendor is off.
 */
export async function publicCli(args: readonly string[], { url, apiKey, cwd, env = {} }: CliTarget): Promise<CliEnd> {
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
