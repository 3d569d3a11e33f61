import type { AgentProgram, AgentSpec } from '../compute/compute.ts';
import { programOf, repairBuild } from './agent-program.ts';
import { hold, holdUntil, isHeld } from './hold.ts';
import { fail, type RolloutDependencies, type RolloutJob } from './rollout-job.ts';
import * as z from 'zod';
import { withTimeout, type Clock } from '../../../kit/clock.ts';
import { requestJson, type Upstream } from '../gateway/request-agent.ts';

/** Builds and starts a revision from its current status on, until it is live, has failed or is interrupted. */
export async function rollOutRevision(job: RolloutJob, tools: RolloutDependencies): Promise<void> {
  await tools.step?.('claimed', job.revision.id);
  const program = await programOf(job, tools);
  if (program) await deploy(job, program, tools);
}

/** Prepares a revision's agent to be started, its database included. */
export async function agentSpec(
  job: RolloutJob,
  program: AgentProgram,
  tools: RolloutDependencies,
): Promise<AgentSpec> {
  const { deployment, revision, deployLog } = job;
  const { ensureDatabase, retry, store, userOf, tracing } = tools;
  const { resource_spec, deployment_type, listener_config } = revision.source_config;
  const databaseUrl = await tools.databaseSlots.run(deployment.id, async () => {
    const url = await retry(() => ensureDatabase(deployment));
    await retry(() => store.setDatabaseState(deployment.id, 'ready'));
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
    user: userOf && (await retry(() => userOf(deployment))),
    log: deployLog.write,
  };
}

async function deploy(job: RolloutJob, program: AgentProgram, tools: RolloutDependencies): Promise<void> {
  const { deployment, revision, deployLog, signal } = job;
  const { store, builds, compute, live, retry } = tools;
  if (!(await retry(() => store.setStatus(revision.id, ['AWAITING_DEPLOY'], 'DEPLOYING')))) return;
  const sourceText = program.kind === 'image' ? `image ${program.imageUri}` : program.sourceText;
  deployLog.write('info', `Starting the agent of ${sourceText}.`);
  const specWithoutHold = await agentSpec(job, program, tools);
  const holdEnd = holdUntil(revision, builds.clock.now());
  const spec = holdEnd === undefined ? specWithoutHold : { ...specWithoutHold, holdUntil: holdEnd };
  let start = await compute.start(spec, signal);
  if (start.kind === 'failed' && !signal.aborted) {
    // The build may have been damaged since it was made.
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
  // Switch traffic before the status, so that a client that reads DEPLOYED never reaches the previous revision.
  const trafficSwitch = live.switchTo(specWithoutHold, start.agent);
  await tools.step?.('switched', revision.id);
  const isLive = await retry(() => store.activate(deployment.id, revision.id, version)).catch((error: unknown) => {
    trafficSwitch.undo();
    throw error;
  });
  if (!isLive) return trafficSwitch.undo();
  await tools.step?.('live', revision.id);
  trafficSwitch.commit();
  await tools.step?.('draining', revision.id);
  deployLog.write('info', 'The agent is healthy and serves; traffic has switched to it.');
  await deployLog.flush();
}

/** The timeout (ms) of the request for an agent's version: short, because the agent is known to be healthy. */
const versionTimeoutMs = 3_000;

const maxResponseLength = 65_536;

const infoSchema = z.looseObject({ version: z.string().regex(/^[\x21-\x7e]{1,255}$/) });

/**
 * The `image_version` of a deployment (docs/design/contract.md#deployments leaves its source open): the version that
 * the agent's server reports (`GET /info`), else the tag of its image, else null.
 */
export async function agentVersion(agent: Upstream, program: AgentProgram, clock: Clock): Promise<string | null> {
  const reported = await withTimeout(clock, versionTimeoutMs, (signal) => reportedAgentVersion(agent, signal));
  return reported ?? (program.kind === 'image' ? tagOf(program.imageUri) : null);
}

/** The tag in an image's reference, or null without one. */
export function tagOf(imageUri: string): string | null {
  const name = imageUri.split('@')[0]?.split('/').at(-1) ?? '';
  return name.includes(':') ? name.slice(name.indexOf(':') + 1) : null;
}

async function reportedAgentVersion(agent: Upstream, signal: AbortSignal): Promise<string | undefined> {
  try {
    return infoSchema.safeParse(await requestJson(agent, '/info', signal, maxResponseLength)).data?.version;
  } catch {
    // The version is optional: a server without one serves as well.
    return undefined;
  }
}
