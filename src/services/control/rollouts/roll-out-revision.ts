import type { AgentProgram, AgentSpec } from '../compute/compute.ts';
import { programOf, repairBuild } from './agent-program.ts';
import { hold, holdUntil, isHeld } from './hold.ts';
import { fail, type RolloutDependencies, type RolloutJob } from './rollout-job.ts';
import * as z from 'zod';
import { withTimeout, type Clock } from '../../../kit/clock.ts';
import { requestJson, type Upstream } from '../gateway/request-agent.ts';

/** Carries one revision from its current status to its end: built, started, healthy, live; or until it is interrupted. */
export async function rollOutRevision(job: RolloutJob, tools: RolloutDependencies): Promise<void> {
  await tools.step?.('claimed', job.revision.id);
  const program = await programOf(job, tools);
  if (program) await deploy(job, program, tools);
}

export async function agentSpec(
  job: RolloutJob,
  program: AgentProgram,
  tools: RolloutDependencies,
): Promise<AgentSpec> {
  const { deployment, revision, deployLog } = job;
  const { ensureDatabase, retrying, store, userOf, tracing } = tools;
  const { resource_spec, deployment_type, listener_config } = revision.source_config;
  const databaseUrl = await tools.databaseSlots.run(deployment.id, async () => {
    const url = await retrying(() => ensureDatabase(deployment));
    await retrying(() => store.setDatabaseState(deployment.id, 'ready'));
    return url;
  });
  return {
    deploymentId: deployment.id,
    revisionId: revision.id,
    name: deployment.name,
    program,
    databaseUrl,
    secrets: revision.secrets,
    secretReferences: revision.secret_references ?? [],
    resourceSpec: resource_spec ?? undefined,
    deploymentType: deployment_type ?? undefined,
    namespace: listener_config?.k8s_namespace ?? undefined,
    tracing: deployment.tracing_project_id === null ? undefined : tracing?.(deployment.tracing_project_id),
    user: userOf && (await retrying(() => userOf(deployment))),
    log: deployLog.write,
  };
}

async function deploy(job: RolloutJob, program: AgentProgram, tools: RolloutDependencies): Promise<void> {
  const { deployment, revision, deployLog, signal } = job;
  const { store, builds, compute, live, retrying } = tools;
  if (!(await retrying(() => store.setStatus(revision.id, ['AWAITING_DEPLOY'], 'DEPLOYING')))) return;
  const madeOf = program.kind === 'image' ? `image ${program.imageUri}` : program.madeOf;
  deployLog.write('info', `Starting the agent of ${madeOf}.`);
  const plain = await agentSpec(job, program, tools);
  const until = holdUntil(revision, builds.clock.now());
  const spec = until === undefined ? plain : { ...plain, holdUntil: until };
  let start = await compute.start(spec, signal);
  if (start.kind === 'failed' && !signal.aborted) {
    // An existing build may have been damaged since it was made.
    const repair = await repairBuild(job, tools);
    if (repair.kind === 'broken') start = { kind: 'failed', reason: `${repair.reason}.` };
    else if (repair.kind === 'repaired') start = await compute.start(spec, signal);
  }
  await deployLog.flush();
  if (start.kind === 'failed') {
    if (!signal.aborted) await fail(job, 'DEPLOY_FAILED', start.reason, tools);
    return;
  }
  await tools.step?.('healthy', revision.id);
  const version = await agentVersion(start.agent, program, builds.clock);
  if (isHeld(revision) && !(await hold(job, start.agent, tools))) return;
  // Switch traffic before the status, so that a client that reads DEPLOYED never reaches the former revision.
  const switched = live.switchTo(plain, start.agent);
  await tools.step?.('switched', revision.id);
  const isLive = await retrying(() => store.activate(deployment.id, revision.id, version)).catch((error: unknown) => {
    switched.undo();
    throw error;
  });
  if (!isLive) return switched.undo();
  await tools.step?.('live', revision.id);
  switched.settle();
  await tools.step?.('draining', revision.id);
  deployLog.write('info', 'The agent is healthy and serves; traffic has switched to it.');
  await deployLog.flush();
}

/** The timeout of the request for an agent's version, in milliseconds: short, since it has just been healthy. */
const withinMs = 3_000;

const maxAnswerLength = 65_536;

const info = z.looseObject({ version: z.string().regex(/^[\x21-\x7e]{1,255}$/) });

/**
 * The `image_version` of a deployment (docs/design/contract.md#deployments leaves its source open): the version that
 * the agent's server reports (`GET /info`), else the tag of its image, else null.
 */
export async function agentVersion(agent: Upstream, program: AgentProgram, clock: Clock): Promise<string | null> {
  const reported = await withTimeout(clock, withinMs, (signal) => reportedAgentVersion(agent, signal));
  return reported ?? (program.kind === 'image' ? tagOf(program.imageUri) : null);
}

export function tagOf(imageUri: string): string | null {
  const name = imageUri.split('@')[0]?.split('/').at(-1) ?? '';
  return name.includes(':') ? name.slice(name.indexOf(':') + 1) : null;
}

async function reportedAgentVersion(agent: Upstream, signal: AbortSignal): Promise<string | undefined> {
  try {
    return info.safeParse(await requestJson(agent, '/info', signal, maxAnswerLength)).data?.version;
  } catch {
    // The version is optional: a server without one serves as well.
    return undefined;
  }
}
