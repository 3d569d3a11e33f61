import * as z from 'zod';
import type { Clock } from '../../../../kit/clock.ts';
import type { Mask } from '../../../../contract/masking/mask.ts';
import type { GuardedProcess } from '../guarded-process.ts';
import { logProcess } from '../process-log.ts';
import type { WriteLine } from '../log-line.ts';
import type { Engine } from './engine.ts';
import type { ContainerPlan } from './plan.ts';

export interface CreatedContainer {
  name: string;
  plan: ContainerPlan;
}

/** A failed command of an engine, with a message for a person. */
export class EngineRefusal extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'EngineRefusal';
  }
}

/** Labels that identify a service's containers and volumes even after the service was killed. */
export const serviceLabel = 'landfall.service';
export const deploymentLabel = 'landfall.deployment';

/** The timeout of a command that may pull an image. */
const createWithinMs = 600_000;

/** Creates a container without starting it; pulls its image where needed. @throws EngineRefusal */
export async function createContainer(
  engine: Engine,
  { name, plan, flags }: { name: string; plan: ContainerPlan; flags: readonly string[] },
  signal: AbortSignal,
): Promise<CreatedContainer> {
  const { file, inherited, impossible } = passEnvironment(plan.env);
  if (impossible.length > 0) {
    throw new EngineRefusal(
      `The values of ${impossible.join(', ')} are too long or of several lines, and an engine reads variables of these names itself. Choose other names for them.`,
    );
  }
  const args = [
    'create',
    `--name=${name}`,
    '--env-file=/dev/stdin',
    ...Object.keys(inherited).map((variable) => `--env=${variable}`),
    ...plan.flags,
    // Last, so that a requested label can't override ours.
    ...flags,
    plan.image,
    ...plan.command,
  ];
  const created = await engine.run(args, { input: file, env: inherited, withinMs: createWithinMs, signal });
  if (created.code !== 0) {
    throw new EngineRefusal(
      `The container ${plan.name} of the image ${plan.image} could not be created (${engine.name}: ${created.problem}).`,
    );
  }
  return { name, plan };
}

/** Starts a container, and sends its output to a log until it ends; `logged` resolves when all of it is written. */
export function startAndFollow(
  engine: Engine,
  { name }: CreatedContainer,
  { write, mask, clock }: { write: WriteLine; mask: Mask; clock: Clock },
): GuardedProcess & { logged: Promise<void> } {
  const following = engine.follow(['start', '--attach', name]);
  return { ...following, logged: logProcess(following, { write, mask, clock, errorLevel: 'error' }) };
}

const stateSchema = z.object({
  Status: z.string(),
  ExitCode: z.int(),
  OOMKilled: z.boolean().optional(),
  Error: z.string().optional(),
});
type ContainerState = z.infer<typeof stateSchema>;

/** The state of a container; undefined when it is gone. */
export async function stateOf(engine: Engine, name: string): Promise<ContainerState | undefined> {
  const { code, stdout } = await engine.run(['inspect', '--format', '{{json .State}}', name]);
  return code === 0 ? stateSchema.safeParse(JSON.parse(stdout)).data : undefined;
}

const endStatuses = new Set(['exited', 'stopped', 'stopping', 'dead', 'removing']);

export function describeEnd(state: ContainerState | undefined, memoryMb: number | undefined): string {
  if (!state) return 'its container was removed';
  if (!endStatuses.has(state.Status)) return `it could not be started${state.Error ? ` (${state.Error})` : ''}`;
  if (state.OOMKilled)
    return `it took more memory than its limit${memoryMb === undefined ? '' : ` of ${memoryMb} MB`} and was stopped`;
  return state.Error ? `exit code ${state.ExitCode} (${state.Error})` : `exit code ${state.ExitCode}`;
}

/** The port of this machine that a container's port is published at; undefined while there is none. */
export async function publishedPort(engine: Engine, name: string, containerPort: number): Promise<number | undefined> {
  const { code, stdout } = await engine.run(['port', name, `${containerPort}/tcp`]);
  const port = code === 0 ? /:(\d+)\s*$/m.exec(stdout)?.[1] : undefined;
  return port === undefined ? undefined : Number(port);
}

/** Removes containers, running or not; ignores those that are gone. */
export async function removeContainers(engine: Engine, names: readonly string[]): Promise<void> {
  if (names.length === 0) return;
  // The first attempt may fail for a container that is just starting.
  for (let attempts = 0; attempts < 3; attempts += 1) {
    const { code } = await engine.run(['rm', '--force', ...names]);
    if (code === 0) return;
  }
}

/** Removes every container with a label; returns how many there were. @throws EngineRefusal */
export async function removeLabelled(engine: Engine, label: string): Promise<number> {
  const ids = await list(engine, 'Containers', ['ps', '--all', '--quiet', `--filter=label=${label}`]);
  await removeContainers(engine, ids);
  return ids.length;
}

/** Removes every volume with a label. @throws EngineRefusal */
export async function removeVolumes(engine: Engine, label: string): Promise<void> {
  const volumes = await list(engine, 'Volumes', ['volume', 'ls', '--quiet', `--filter=label=${label}`]);
  if (volumes.length === 0) return;
  const { code, problem } = await engine.run(['volume', 'rm', '--force', ...volumes]);
  if (code !== 0) throw new EngineRefusal(`Volumes could not be removed (${engine.name}: ${problem}).`);
}

async function list(engine: Engine, what: string, args: readonly string[]): Promise<string[]> {
  const { code, stdout, problem } = await engine.run(args);
  if (code !== 0) throw new EngineRefusal(`${what} could not be listed (${engine.name}: ${problem}).`);
  return stdout.split(/\s+/).filter((name) => name !== '');
}

/** Variables that an engine's command reads itself: a container's variable must not override them. */
const readByEngines =
  /^(PATH|HOME|USER|LOGNAME|TMPDIR|TZ|LANG|LC_|XDG_|DOCKER_|BUILD|COMPOSE_|CONTAINER|PODMAN|STORAGE_|REGISTRY_|_|HTTPS?_PROXY|NO_PROXY|ALL_PROXY|https?_proxy|no_proxy|all_proxy|SSL_|SSH_|LD_|GO|NOTIFY_|LISTEN_|DBUS_|KUBE|OTEL_|CLICOLOR|NO_COLOR|TERM)/;
const maxLineLength = 60_000;

/**
 * Splits a container's environment into forms that no process list or file on disk shows: an `--env-file` for a pipe,
 * and variables that the engine's command inherits. The variables in `impossible` can't be passed.
 */
export function passEnvironment(env: Readonly<Record<string, string>>) {
  let file = '';
  const inherited: Record<string, string> = {};
  const impossible: string[] = [];
  for (const [name, value] of Object.entries(env)) {
    if (!/[\r\n]/.test(value) && Buffer.byteLength(value) < maxLineLength) file += `${name}=${value}\n`;
    else if (!readByEngines.test(name)) inherited[name] = value;
    else impossible.push(name);
  }
  return { file, inherited, impossible };
}
