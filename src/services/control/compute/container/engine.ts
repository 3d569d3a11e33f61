import type { Readable } from 'node:stream';
import * as z from 'zod';
import { fromJson } from '../../../../kit/json-text.ts';
import { untilAborted, withTimeout, type Clock } from '../../../../kit/clock.ts';
import { findTool } from '../../builds/find-tool.ts';
import { startGuarded, type GuardedProcess } from '../guarded-process.ts';

interface EngineAnswer {
  code: number;
  said: string;
  complaint: string;
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
  run(args: readonly string[], call?: EngineCall): Promise<EngineAnswer>;
  follow(args: readonly string[]): GuardedProcess;
}

export interface EngineFacts {
  kind: 'docker' | 'podman';
  /** Rootless: its networks are not this machine's. */
  rootless: boolean;
  /** It runs in a virtual machine, as on a desktop, which reaches our loopback by a host name. */
  desktop: boolean;
}

export interface EngineDependencies {
  clock: Clock;
  /** The name or the path of its command; docker or podman, whichever responds first, when absent. */
  named?: string | undefined;
  /** This service's own environment, for finding and running the command. */
  env: Readonly<Record<string, string | undefined>>;
}

const known = ['docker', 'podman'];

export interface NoEngine {
  ok: false;
  reason: string;
  /** An engine is installed but fails: it may work later. */
  installed: boolean;
}

/** Finds an engine that responds, or returns why there is none. */
export async function findEngine(settings: EngineDependencies): Promise<{ ok: true; engine: Engine } | NoEngine> {
  const { named, env } = settings;
  const there = (named === undefined ? known : [named]).flatMap((name) => {
    const command = findTool(name, env['PATH'] ?? '');
    return command === undefined ? [] : [{ name, command }];
  });
  const silent: string[] = [];
  for (const { name, command } of there) {
    const callers = callersOf(command, settings);
    const answer = await callers.run(['info', '--format', '{{json .}}'], { withinMs: 20_000 });
    const facts = answer.code === 0 ? factsIn(answer.said) : undefined;
    if (facts) return { ok: true, engine: { name, facts, ...callers } };
    silent.push(`${name} does not answer (${answer.complaint || `it ended with ${answer.code}`})`);
  }
  return { ok: false, reason: whyNone(named, silent), installed: there.length > 0 };
}

function whyNone(named: string | undefined, silent: readonly string[]): string {
  const advice =
    'Start it, or install Docker or Podman, or name another one with --container-engine, or deploy from the source github or internal_source, which needs no containers';
  if (silent.length > 0) return `This machine can't run containers: ${silent.join('; ')}. ${advice}.`;
  const missing = named === undefined ? 'neither docker nor podman is installed' : `there is no program ${named}`;
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

function heard(output: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  output.on('data', (chunk: Buffer) => chunks.push(chunk));
  return new Promise((resolve) => output.once('close', () => resolve(Buffer.concat(chunks).toString('utf8'))));
}

/** The variables of our environment that an engine's command may read: none of them goes into a container. */
const passed =
  /^(PATH|HOME|USER|LOGNAME|TMPDIR|LANG|LC_\w+|XDG_\w+|DOCKER_\w+|BUILDAH_\w+|CONTAINERS?_\w+|PODMAN_\w+|STORAGE_\w+|REGISTRY_AUTH_FILE|(HTTPS?|NO|ALL)_PROXY|(https?|no|all)_proxy|SSL_CERT_(FILE|DIR)|SSH_AUTH_SOCK)$/;

function callersOf(command: string, { clock, env }: EngineDependencies): Pick<Engine, 'run' | 'follow'> {
  const own = Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value !== undefined && passed.test(name) ? [[name, value]] : [])),
  );
  const plain = { cwd: '/', graceSeconds: 0, trusted: true };
  return {
    follow: (args) => startGuarded({ ...plain, command, args, env: own, withInput: false }, clock),
    async run(args, { input, env: more = {}, withinMs = 60_000, signal } = {}) {
      // Node.js passes a socket as standard input, which can't be opened by name.
      const spec =
        input === undefined
          ? { command, args }
          : { command: '/bin/sh', args: ['-c', 'cat | "$@"', 'sh', command, ...args] };
      const withInput = input !== undefined;
      const started = startGuarded({ ...plain, ...spec, env: { ...own, ...more }, withInput }, clock);
      started.stdin?.end(input);
      const read = Promise.all([heard(started.stdout), heard(started.stderr), started.ended]);
      const untilRead = async (bound: AbortSignal): Promise<boolean> => {
        void untilAborted(bound).then(started.kill);
        await read;
        return bound.aborted && signal?.aborted !== true;
      };
      const isLate = await withTimeout(clock, withinMs, untilRead, signal);
      const [said, complained, end] = await read;
      const lines = complained.split('\n').filter((line) => line.trim() !== '');
      if (isLate) return { code: -1, said, complaint: `it took longer than ${withinMs / 1_000} s` };
      if (end.kind === 'unstartable') return { code: -1, said, complaint: end.reason };
      return { code: end.kind === 'exited' ? end.code : -1, said, complaint: lines.at(-1) ?? '' };
    },
  };
}
