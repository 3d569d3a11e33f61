import type { Readable } from 'node:stream';
import * as z from 'zod';
import { fromJson } from '../../../../kit/json-text.ts';
import { untilAborted, withTimeout, type Clock } from '../../../../kit/clock.ts';
import { findTool } from '../../builds/find-tool.ts';
import { startGuarded, type GuardedProcess } from '../guarded-process.ts';

interface EngineResponse {
  code: number;
  stdout: string;
  problem: string;
}

interface EngineCall {
  /** Written to its standard input, a pipe that can be opened as `/dev/stdin`: suitable for secrets. */
  input?: string;
  /** Variables that override those of the engine's command: suitable for secrets too. */
  env?: Readonly<Record<string, string>>;
  withinMs?: number;
  signal?: AbortSignal;
}

/** A working container engine, used through its command line. */
export interface Engine {
  name: string;
  facts: EngineFacts;
  /** Runs a command to its end. Never rejects. */
  run(args: readonly string[], call?: EngineCall): Promise<EngineResponse>;
  /** Starts a command whose output the caller reads. */
  follow(args: readonly string[]): GuardedProcess;
}

export interface EngineFacts {
  kind: 'docker' | 'podman';
  /** Whether it runs without root: its networks are then not this machine's. */
  rootless: boolean;
  /** Whether it runs in a virtual machine, as on a desktop, which reaches this machine's loopback by a host name. */
  desktop: boolean;
}

export interface EngineDependencies {
  clock: Clock;
  /** The name or the path of its command; docker or podman, whichever responds first, when absent. */
  command?: string | undefined;
  /** This service's own environment, for finding and running the command. */
  env: Readonly<Record<string, string | undefined>>;
}

const engineNames = ['docker', 'podman'];

export interface NoEngine {
  ok: false;
  reason: string;
  /** Whether an engine is installed but fails: it may work later. */
  installed: boolean;
}

/** Finds an engine that responds, or returns why there is none. */
export async function findEngine(settings: EngineDependencies): Promise<{ ok: true; engine: Engine } | NoEngine> {
  const { command, env } = settings;
  const installed = (command === undefined ? engineNames : [command]).flatMap((name) => {
    const path = findTool(name, env['PATH'] ?? '');
    return path === undefined ? [] : [{ name, path }];
  });
  const failures: string[] = [];
  for (const { name, path } of installed) {
    const commands = engineCommands(path, settings);
    const response = await commands.run(['info', '--format', '{{json .}}'], { withinMs: 20_000 });
    const facts = response.code === 0 ? factsIn(response.stdout) : undefined;
    if (facts) return { ok: true, engine: { name, facts, ...commands } };
    failures.push(`${name} does not answer (${response.problem || `it ended with ${response.code}`})`);
  }
  return { ok: false, reason: noEngineReason(command, failures), installed: installed.length > 0 };
}

function noEngineReason(name: string | undefined, failures: readonly string[]): string {
  const advice =
    'Start it, or install Docker or Podman, or name another one with --container-engine, or deploy from the source github or internal_source, which needs no containers';
  if (failures.length > 0) return `This machine can't run containers: ${failures.join('; ')}. ${advice}.`;
  const missing = name === undefined ? 'neither docker nor podman is installed' : `there is no program ${name}`;
  return `This machine can't run containers: ${missing}. ${advice}.`;
}

const dockerInfo = z.object({
  ServerVersion: z.string().min(1),
  OperatingSystem: z.string().optional(),
  SecurityOptions: z.array(z.string()).nullish(),
});
const podmanInfo = z.object({
  host: z.object({ security: z.object({ rootless: z.boolean() }), serviceIsRemote: z.boolean().optional() }),
});

/** Parses the output of `info`; undefined for unknown output, and for a client whose server does not respond. */
export function factsIn(reported: string): EngineFacts | undefined {
  const read = fromJson(reported);
  const podman = podmanInfo.safeParse(read).data?.host;
  if (podman) return { kind: 'podman', rootless: podman.security.rootless, desktop: podman.serviceIsRemote === true };
  const docker = dockerInfo.safeParse(read).data;
  if (!docker) return undefined;
  return {
    kind: 'docker',
    rootless: (docker.SecurityOptions ?? []).some((option) => option.includes('rootless')),
    desktop: docker.OperatingSystem === 'Docker Desktop',
  };
}

function readAll(output: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  output.on('data', (chunk: Buffer) => chunks.push(chunk));
  return new Promise((resolve) => output.once('close', () => resolve(Buffer.concat(chunks).toString('utf8'))));
}

/** The variables of this service that an engine's command receives; containers do not receive them. */
const engineVariables =
  /^(PATH|HOME|USER|LOGNAME|TMPDIR|LANG|LC_\w+|XDG_\w+|DOCKER_\w+|BUILDAH_\w+|CONTAINERS?_\w+|PODMAN_\w+|STORAGE_\w+|REGISTRY_AUTH_FILE|(HTTPS?|NO|ALL)_PROXY|(https?|no|all)_proxy|SSL_CERT_(FILE|DIR)|SSH_AUTH_SOCK)$/;

function engineCommands(command: string, { clock, env }: EngineDependencies): Pick<Engine, 'run' | 'follow'> {
  const ownEnv = Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      value !== undefined && engineVariables.test(name) ? [[name, value]] : [],
    ),
  );
  const commonSettings = { cwd: '/', graceSeconds: 0, trusted: true };
  return {
    follow: (args) => startGuarded({ ...commonSettings, command, args, env: ownEnv, withInput: false }, clock),
    async run(args, { input, env: extraEnv = {}, withinMs = 60_000, signal } = {}) {
      // Node.js passes a socket as standard input, which can't be opened by name.
      const spec =
        input === undefined
          ? { command, args }
          : { command: '/bin/sh', args: ['-c', 'cat | "$@"', 'sh', command, ...args] };
      const withInput = input !== undefined;
      const started = startGuarded({ ...commonSettings, ...spec, env: { ...ownEnv, ...extraEnv }, withInput }, clock);
      started.stdin?.end(input);
      const outputs = Promise.all([readAll(started.stdout), readAll(started.stderr), started.ended]);
      const readInTime = async (bound: AbortSignal): Promise<boolean> => {
        void untilAborted(bound).then(started.kill);
        await outputs;
        return bound.aborted && signal?.aborted !== true;
      };
      const isLate = await withTimeout(clock, withinMs, readInTime, signal);
      const [stdout, stderr, end] = await outputs;
      const lines = stderr.split('\n').filter((line) => line.trim() !== '');
      if (isLate) return { code: -1, stdout, problem: `it took longer than ${withinMs / 1_000} s` };
      if (end.kind === 'unstartable') return { code: -1, stdout, problem: end.reason };
      return { code: end.kind === 'exited' ? end.code : -1, stdout, problem: lines.at(-1) ?? '' };
    },
  };
}
