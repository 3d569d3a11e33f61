import { basename } from 'node:path';
import { buildFolder, readBuild } from '../builds/build-folder.ts';
import type { Build, BuildRequest } from '../builds/build.ts';
import { makeBuild, type BuildSettings } from '../builds/make-build.ts';
import type { AgentProgram, AgentSpec, Compute, TracingTarget } from '../compute/compute.ts';
import type { ProcessUser } from '../compute/leashed-process.ts';
import type { Integrations } from '../integrations/integrations.ts';
import type { ControlStore } from '../store/store.ts';
import type { DeploymentRecord, RevisionRecord } from '../store/tables.ts';
import { uploadedFile } from '../uploads/object-path.ts';
import type { EnsureDatabase } from './agent-database.ts';
import { agentVersion } from './agent-version.ts';
import type { LiveAgents } from './live-agents.ts';
import type { LogBook, LogWriter } from './log-book.ts';
import type { Patiently } from './patience.ts';
import type { Slots } from './slots.ts';

/** What carrying out a revision stands on. */
export interface Tools {
  store: ControlStore;
  /** The service's data folder. */
  dataDir: string;
  builds: BuildSettings;
  buildSlots: Slots;
  compute: Compute;
  ensureDatabase: EnsureDatabase;
  live: LiveAgents;
  patiently: Patiently;
  logs: LogBook;
  /** Gets what private repositories are cloned with; without it they are cloned without credentials. */
  cloning?: Pick<Integrations, 'cloneToken' | 'endToken'> | undefined;
  /** Where the agents of a tracing project tell of their runs; without it they tell nobody. */
  tracing?: ((projectId: string) => TracingTarget) | undefined;
  /** The user of this machine that a deployment's builds and agents run as; absent: as this service's own. */
  userOf?: (deployment: DeploymentRecord) => Promise<ProcessUser | undefined>;
  /** Told when a revision has come so far, before anything follows; nobody is told when absent. */
  step?: RolloutStep;
}

/** Is told how far a revision has come, by the names of the steps that the README's table of kills explains. */
export type RolloutStep = (done: string, revisionId: string) => void | Promise<void>;

/** A revision that is being carried out, with its logs. */
export interface Undertaking {
  deployment: DeploymentRecord;
  revision: RevisionRecord;
  buildLog: LogWriter;
  deployLog: LogWriter;
  /** Aborts when the revision was interrupted, or the service stops. */
  signal: AbortSignal;
}

/** Begins to carry out a revision: opens its logs. */
export const undertake = (
  deployment: DeploymentRecord,
  revision: RevisionRecord,
  signal: AbortSignal,
  { logs }: Pick<Tools, 'logs'>,
): Undertaking => ({
  deployment,
  revision,
  buildLog: logs.open(revision.id, 'build'),
  deployLog: logs.open(revision.id, 'deploy'),
  signal,
});

/**
 * The story of one revision from where it stands to its end: built, started, healthy, live. A revision that was
 * interrupted meanwhile is let go of; one whose service stops stays where it is and is taken up by the next start.
 */
export async function carryOut(undertaking: Undertaking, tools: Tools): Promise<void> {
  await tools.step?.('claimed', undertaking.revision.id);
  const program = await programOf(undertaking, tools);
  if (program) await deploy(undertaking, program, tools);
}

/** What a revision's agent is made of: an image as it stands, or a build, which is made where there is none. */
async function programOf(undertaking: Undertaking, tools: Tools): Promise<AgentProgram | undefined> {
  const { revision, signal } = undertaking;
  const { store, patiently } = tools;
  if (revision.source === 'external_docker' || revision.source === 'internal_docker') {
    const steps = revision.status === 'AWAITING_BUILD' ? (['BUILDING', 'AWAITING_DEPLOY'] as const) : [];
    let from = revision.status;
    for (const to of steps) {
      if (signal.aborted || !(await patiently(() => store.setStatus(revision.id, [from], to)))) return undefined;
      from = to;
    }
    return { kind: 'image', imageUri: revision.source_revision_config.image_uri ?? '' };
  }
  const build =
    revision.build_folder === null ? await buildAnew(undertaking, tools) : await oldBuild(undertaking, tools);
  return build && programOfBuild(build, tools);
}

/** A build as what an agent is made of. */
const programOfBuild = (build: Build, { builds }: Pick<Tools, 'builds'>): AgentProgram => ({
  kind: 'build',
  madeOf: build.from.kind === 'commit' ? `commit ${build.from.commit}` : `the source tarball ${build.from.digest}`,
  folder: build.folder,
  graphConfigFile: build.graphConfigFile,
  homeFolder: buildFolder(builds.dataDir, basename(build.folder)).home,
});

async function buildAnew(undertaking: Undertaking, tools: Tools): Promise<Build | undefined> {
  const { revision, buildLog, signal } = undertaking;
  const { store, buildSlots, patiently, builds } = tools;
  const giveBack = await buildSlots.take(signal);
  if (!giveBack) return undefined;
  try {
    if (!(await patiently(() => store.setStatus(revision.id, ['AWAITING_BUILD'], 'BUILDING')))) return undefined;
    const step = (done: string) => tools.step?.(done, revision.id);
    const end = await makeBuild(await buildRequest(undertaking, tools), { ...builds, step }, signal);
    await buildLog.flush();
    if (end.kind === 'interrupted') return undefined;
    if (end.kind === 'failed') {
      await fail(undertaking, 'BUILD_FAILED', end.reason, tools);
      return undefined;
    }
    await tools.step?.('recorded', revision.id);
    const { folder, from } = end.build;
    const details = {
      buildFolder: `builds/${basename(folder)}`,
      ...(from.kind === 'commit' ? { commit: from.commit } : {}),
    };
    const went = await patiently(() => store.setStatus(revision.id, ['BUILDING'], 'AWAITING_DEPLOY', details));
    return went && end.build;
  } finally {
    giveBack();
  }
}

/** What the agent of a revision that is live already is made of. */
export async function liveProgram(undertaking: Undertaking, tools: Tools): Promise<AgentProgram | undefined> {
  const { source, source_revision_config } = undertaking.revision;
  if (source_revision_config.image_uri && (source === 'external_docker' || source === 'internal_docker')) {
    return { kind: 'image', imageUri: source_revision_config.image_uri };
  }
  const build = await oldBuild(undertaking, tools);
  return build && programOfBuild(build, tools);
}

/** The build that a revision has already, made again from the same commit where it was cleared away. */
async function oldBuild(undertaking: Undertaking, tools: Tools): Promise<Build | undefined> {
  const { revision, buildLog, signal } = undertaking;
  const { builds, buildSlots } = tools;
  const id = basename(revision.build_folder ?? revision.id);
  const build = readBuild(buildFolder(builds.dataDir, id).root);
  if (build) return build;
  buildLog.write('warning', 'The build was cleared away from this machine; it is made again from the same commit.');
  const giveBack = await buildSlots.take(signal);
  if (!giveBack) return undefined;
  try {
    const end = await makeBuild({ ...(await buildRequest(undertaking, tools)), revisionId: id }, builds, signal);
    await buildLog.flush();
    if (end.kind === 'built') return end.build;
    if (end.kind === 'failed') await fail(undertaking, 'DEPLOY_FAILED', end.reason, tools);
    return undefined;
  } finally {
    giveBack();
  }
}

async function buildRequest({ deployment, revision, buildLog }: Undertaking, tools: Tools): Promise<BuildRequest> {
  const { store, patiently, userOf } = tools;
  const { source_config, source_revision_config } = revision;
  return {
    revisionId: revision.id,
    tenantId: deployment.tenant_id,
    integrationId: source_config.integration_id ?? undefined,
    from: sourceOf(deployment, revision, tools),
    graphConfigPath: source_revision_config.graph_config_path ?? '',
    installCommand: source_config.install_command ?? undefined,
    buildCommand: source_config.build_command ?? undefined,
    secrets: revision.secrets,
    user: userOf && (await patiently(() => userOf(deployment))),
    log: buildLog.write,
    onCommit: (commit) => patiently(() => store.noteCommit(revision.id, commit)),
  };
}

/** What a revision is built from. */
function sourceOf(
  { tenant_id }: DeploymentRecord,
  revision: RevisionRecord,
  { dataDir, cloning, patiently }: Pick<Tools, 'dataDir' | 'cloning' | 'patiently'>,
): BuildRequest['from'] {
  const { source, source_config, source_revision_config, repo_commit_sha, source_tarball_digest } = revision;
  if (source === 'internal_source') {
    const file = uploadedFile(dataDir, source_revision_config.source_tarball_path ?? '');
    return { kind: 'tarball', file, digest: source_tarball_digest ?? '' };
  }
  const repoUrl = source_config.repo_url ?? '';
  const integrationId = source_config.integration_id;
  return {
    kind: 'git',
    repoUrl,
    ...(cloning && integrationId
      ? {
          token: () => patiently(() => cloning.cloneToken(tenant_id, integrationId, repoUrl)),
          endToken: cloning.endToken,
        }
      : {}),
    repoRef: source_revision_config.repo_ref ?? undefined,
    commit: repo_commit_sha ?? undefined,
  };
}

/** What it takes to run a revision. */
export async function agentSpec(undertaking: Undertaking, program: AgentProgram, tools: Tools): Promise<AgentSpec> {
  const { deployment, revision, deployLog } = undertaking;
  const { ensureDatabase, patiently, store, userOf, tracing } = tools;
  const { resource_spec, deployment_type, listener_config } = revision.source_config;
  const databaseUrl = await patiently(() => ensureDatabase(deployment));
  await patiently(() => store.setDatabaseState(deployment.id, 'ready'));
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
    user: userOf && (await patiently(() => userOf(deployment))),
    log: deployLog.write,
  };
}

async function deploy(undertaking: Undertaking, program: AgentProgram, tools: Tools): Promise<void> {
  const { deployment, revision, deployLog, signal } = undertaking;
  const { store, builds, compute, live, patiently } = tools;
  if (!(await patiently(() => store.setStatus(revision.id, ['AWAITING_DEPLOY'], 'DEPLOYING')))) return;
  deployLog.write(
    'info',
    `Starting the agent of ${program.kind === 'image' ? `image ${program.imageUri}` : program.madeOf}.`,
  );
  const spec = await agentSpec(undertaking, program, tools);
  const start = await compute.start(spec, signal);
  await deployLog.flush();
  if (start.kind === 'failed') {
    if (!signal.aborted) await fail(undertaking, 'DEPLOY_FAILED', start.reason, tools);
    return;
  }
  await tools.step?.('healthy', revision.id);
  const version = await agentVersion(start.agent, program, builds.clock);
  // Traffic goes over before the revision is called live, so that nobody who reads DEPLOYED meets the former one.
  const switched = live.switchTo(spec, start.agent);
  await tools.step?.('switched', revision.id);
  const isLive = await patiently(() => store.activate(deployment.id, revision.id, version)).catch((error: unknown) => {
    switched.undo();
    throw error;
  });
  if (!isLive) return switched.undo();
  await tools.step?.('live', revision.id);
  switched.settle();
  await tools.step?.('draining', revision.id);
  deployLog.write('info', 'The agent is healthy and serves; traffic has gone over to it.');
  await deployLog.flush();
}

const runningBefore = {
  BUILD_FAILED: ['AWAITING_BUILD', 'BUILDING'],
  DEPLOY_FAILED: ['AWAITING_DEPLOY', 'DEPLOYING'],
} as const;

/** Ends a revision as failed, with the reason in its status and at the end of its log. The live one goes on serving. */
export async function fail(
  { revision, buildLog, deployLog }: Undertaking,
  status: keyof typeof runningBefore,
  reason: string,
  { store, patiently }: Pick<Tools, 'store' | 'patiently'>,
): Promise<void> {
  const log = status === 'DEPLOY_FAILED' ? deployLog : buildLog;
  log.write('error', reason);
  await log.flush();
  await patiently(() => store.setStatus(revision.id, runningBefore[status], status, { message: reason }));
}

/** Ends a revision as failed wherever it stands, for a reason that no step of it foresaw. */
export async function failAnyway(
  { revision, buildLog }: Undertaking,
  reason: string,
  { store, patiently }: Pick<Tools, 'store' | 'patiently'>,
): Promise<void> {
  buildLog.write('error', reason);
  for (const status of ['BUILD_FAILED', 'DEPLOY_FAILED'] as const) {
    await patiently(() => store.setStatus(revision.id, runningBefore[status], status, { message: reason }));
  }
}
