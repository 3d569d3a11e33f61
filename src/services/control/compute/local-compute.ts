import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../../kit/clock.ts';
import { folderKey } from '../../../kit/postgres/embedded/placement.ts';
import { deploymentUsers } from '../isolation/deployment-users.ts';
import { isolate } from '../isolation/isolation.ts';
import type { ControlStore } from '../store/store.ts';
import { agentServerPath } from './agent-environment.ts';
import type { AgentTokens } from './agent-tokens.ts';
import { removeDeadSockets } from './agent-socket.ts';
import type { Compute } from './compute.ts';
import { containerCompute } from './container-compute.ts';
import { processCompute } from './process-compute.ts';
import { idleCompute } from './idle-compute.ts';
import type { Logger } from '../../../kit/logger.ts';

/** The kinds of compute for builds. Images always run in containers. */
export const computeKinds = ['process', 'container'] as const;

export interface ComputeChoice {
  /** `process` when absent. */
  kind?: (typeof computeKinds)[number] | undefined;
  /** The name or the path of the engine's command; docker or podman, whichever responds first, when absent. */
  engine?: string | undefined;
  /** The image that builds run in, with Node.js; an official one when absent. */
  image?: string | undefined;
  /** Whether webhooks of agents may reach private networks. */
  privateWebhooks?: boolean | undefined;
}

export interface LocalComputeDependencies {
  choice: ComputeChoice;
  given: Compute | undefined;
  /** The program that runs an agent as a process; the agent server of this installation when absent. */
  agentServer: string | undefined;
  dataDir: string;
  /** The folder of the socket through which containers reach an embedded database without a port. */
  databaseFolder?: string | undefined;
  /** This service's environment, for finding an engine's command. */
  env: Readonly<Record<string, string | undefined>>;
  store: Pick<ControlStore, 'agentUser' | 'agentUids'>;
  /** Issues the tokens of agents. */
  issueToken: AgentTokens['issue'];
  clock: Clock;
  log: Logger;
}

/**
 * Creates the compute of this machine, and ends what an earlier process of this service left running.
 *
 * @throws Error with advice when builds are to run in containers and no engine responds.
 */
export async function localCompute(settings: LocalComputeDependencies) {
  const { choice, given, agentServer = agentServerPath(), dataDir, env, store, issueToken, clock, log } = settings;
  const { folder: workDir, program, ids, warning } = await isolate({ dataDir, log, agentServer });
  const users = ids && deploymentUsers(store, ids, clock, log);
  await users?.sweepAll();
  await removeDeadSockets(clock.now());
  const userOf = users?.userOf;
  if (given) return { compute: given, workDir, program, userOf, close: async () => undefined };

  const { privateWebhooks } = choice;
  const serviceId = folderKey(realpathSync(dataDir));
  const images = containerCompute({
    clock,
    log,
    serviceId,
    usedDir: join(dataDir, 'containers'),
    program,
    command: choice.engine,
    databaseFolder: settings.databaseFolder,
    buildImage: choice.image,
    privateWebhooks,
    issueToken,
    env,
  });
  const problem = choice.kind === 'container' ? await images.problem() : undefined;
  if (problem !== undefined) throw new Error(problem);
  const processSettings = { clock, ...program, warning, sweep: users?.sweep, privateWebhooks, issueToken };
  const processes = idleCompute(processCompute(processSettings), { clock });
  const builds = choice.kind === 'container' ? images : processes;
  const close = async (): Promise<void> => {
    await processes.close();
    await images.close();
  };
  return { compute: computeByProgram({ builds, images }), workDir, program, userOf, close };
}

/** Runs every agent on the compute that its program needs; removes from both. */
export function computeByProgram({ builds, images }: { builds: Compute; images: Compute }): Compute {
  return {
    start: (spec, signal) => (spec.program.kind === 'image' ? images : builds).start(spec, signal),
    async remove(deployment) {
      for (const compute of new Set([builds, images])) await compute.remove?.(deployment);
    },
  };
}
