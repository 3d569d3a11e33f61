import type { Repair } from './supervised-agent.ts';
import { basename } from 'node:path';
import { damagedFile } from '../builds/build-files.ts';
import { buildFolder, readBuild, type BuildFolder } from '../builds/build-folder.ts';
import type { Build, BuildEnd, BuildRequest } from '../builds/build.ts';
import { copyBuild } from '../builds/copy-build.ts';
import { copyGeneratedLock } from '../builds/generated-lock.ts';
import { makeBuild } from '../builds/make-build.ts';
import { environmentFolder } from '../builds/python/environment-store.ts';
import { interpreterIn } from '../builds/python/install-commands.ts';
import { runInFolderQueue } from '../builds/folder-queue.ts';
import type { AgentProgram, AgentSpec } from '../compute/compute.ts';
import type { StepDetails } from '../revisions/work-repository.ts';
import type { DeploymentRecord, RevisionRecord } from '../store/tables.ts';
import { uploadedFile } from '../uploads/uploads.ts';
import { fail, type RolloutDependencies, type RolloutJob, openJob } from './rollout-job.ts';
import { withoutFullStop } from '../../../kit/plain-text.ts';

/** Returns the program of a revision's agent: its image, or its build, which is made where it is missing. */
export async function programOf(job: RolloutJob, tools: RolloutDependencies): Promise<AgentProgram | undefined> {
  const { revision, signal } = job;
  const { store, retry } = tools;
  if (isImage(revision)) {
    const steps = revision.status === 'AWAITING_BUILD' ? (['BUILDING', 'AWAITING_DEPLOY'] as const) : [];
    let from = revision.status;
    for (const to of steps) {
      if (signal.aborted || !(await retry(() => store.setStatus(revision.id, [from], to)))) return undefined;
      from = to;
    }
    return { kind: 'image', imageUri: revision.source_revision_config.image_uri ?? '' };
  }
  const build = revision.build_folder === null ? await buildFromSource(job, tools) : await findOrRebuild(job, tools);
  return build && programOfBuild(build, tools);
}

const isImage = ({ source }: RevisionRecord): boolean => source === 'external_docker' || source === 'internal_docker';

function programOfBuild(build: Build, { builds }: RolloutDependencies): AgentProgram {
  const { home, python } = buildFolder(builds.dataDir, basename(build.folder));
  return {
    kind: 'build',
    sourceText:
      build.from.kind === 'commit' ? `commit ${build.from.commit}` : `the source tarball ${build.from.digest}`,
    folder: build.folder,
    graphConfigFile: build.graphConfigFile,
    homeFolder: home,
    ...(build.python && { python: interpreterIn(python) }),
    ...(build.python?.shared && { pythonPackages: environmentFolder(builds.dataDir, build.python.shared) }),
  };
}

async function buildFromSource(job: RolloutJob, tools: RolloutDependencies): Promise<Build | undefined> {
  const { revision, buildLog, signal } = job;
  const { store, buildSlots, retry, builds } = tools;
  const begin = () => retry(() => store.setStatus(revision.id, ['AWAITING_BUILD'], 'BUILDING'));
  let copyWarning: string | undefined;
  if (revision.build_of !== null) {
    // A copy needs no slot, and would wait with one for a build that waits for a slot.
    if (!(await begin())) return undefined;
    const copied = await copyFrom(revision.build_of, job, tools);
    if (copied.kind === 'ended') return copied.build;
    copyWarning = copied.warning;
  }
  const release = await buildSlots.take(signal);
  if (!release) return undefined;
  try {
    if (copyWarning === undefined && !(await begin())) return undefined;
    const step = (done: string) => tools.step?.(done, revision.id);
    const onFailure = (reason: string): Promise<void> => fail(job, 'BUILD_FAILED', reason, tools);
    const end = await makeBuild({ ...(await buildRequest(job, tools)), onFailure }, { ...builds, step }, signal);
    await buildLog.flush();
    if (end.kind !== 'built') return undefined;
    const warnings = [...(copyWarning === undefined ? [] : [copyWarning]), ...end.warnings];
    return await recordBuilt(end.build, { warnings }, job, tools);
  } finally {
    release();
  }
}

/** How copying ended: with the build, or without one, or with the warning that the commit has to be built again. */
type CopiedFrom = { kind: 'ended'; build: Build | undefined } | { kind: 'built-again'; warning: string };

/** Copies the build of another deployment's revision, which both revisions then name by its digest. */
async function copyFrom(id: string, job: RolloutJob, tools: RolloutDependencies): Promise<CopiedFrom> {
  const { deployment, revision, buildLog, signal } = job;
  const { store, retry, builds, userOf } = tools;
  const original = await retry(() => store.findRevisionOfTenant(deployment.tenant_id, id));
  const from = original?.build_folder;
  const user = userOf && (await retry(() => userOf(deployment)));
  const request = { revisionId: revision.id, from: basename(from ?? id), user, log: buildLog.write };
  const copied = await copyBuild(request, builds, signal);
  switch (copied.kind) {
    case 'interrupted':
      return { kind: 'ended', build: undefined };
    case 'failed':
      await fail(job, 'BUILD_FAILED', copied.reason, tools);
      return { kind: 'ended', build: undefined };
    case 'not-copyable': {
      const warning = `The build of the revision ${id} can't be copied: ${copied.why}. Its commit is built again, with the same packages.`;
      buildLog.write('warning', warning);
      copyGeneratedLock(builds.dataDir, request.from, revision.id);
      await retry(() => store.forgetBuildOf(revision.id));
      return { kind: 'built-again', warning };
    }
    case 'copied': {
      const { build, digest } = copied;
      await retry(() => store.noteBuildDigest(buildName(request.from), digest));
      buildLog.write('info', `Copied the build of the revision ${id} (${digest}): nothing is built a second time.`);
      await buildLog.flush();
      const warnings = original?.build_warnings ?? [];
      return { kind: 'ended', build: await recordBuilt(build, { warnings, digest }, job, tools) };
    }
  }
}

/** A build as revisions name it. */
const buildName = (folder: string): string => `builds/${folder}`;

/** Records a complete build; undefined where its revision was interrupted meanwhile. */
async function recordBuilt(
  build: Build,
  details: Pick<StepDetails, 'warnings' | 'digest'>,
  { revision }: RolloutJob,
  { store, retry, step }: RolloutDependencies,
): Promise<Build | undefined> {
  await step?.('recorded', revision.id);
  const commit = build.from.kind === 'commit' ? { commit: build.from.commit } : {};
  const recorded = { buildFolder: buildName(basename(build.folder)), ...commit, ...details };
  return (await retry(() => store.setStatus(revision.id, ['BUILDING'], 'AWAITING_DEPLOY', recorded))) && build;
}

/** Returns the program of a live revision: its status stays, and a missing build is made again. */
export async function liveProgram(job: RolloutJob, tools: RolloutDependencies): Promise<AgentProgram | undefined> {
  const { image_uri } = job.revision.source_revision_config;
  if (image_uri && isImage(job.revision)) return { kind: 'image', imageUri: image_uri };
  const build = await findOrRebuild(job, tools);
  return build && programOfBuild(build, tools);
}

/** Returns the revision's build, made again from the same commit where it was removed. */
async function findOrRebuild(job: RolloutJob, tools: RolloutDependencies): Promise<Build | undefined> {
  const { revision, buildLog } = job;
  const build = readBuild(existingBuildFolder(revision, tools).root);
  if (build) return build;
  buildLog.write('warning', 'The build was removed from this machine; building the same commit again.');
  const end = await rebuild(job, tools);
  if (end?.kind === 'built') return end.build;
  if (end?.kind === 'failed') await fail(job, 'DEPLOY_FAILED', end.reason, tools);
  return undefined;
}

const existingBuildFolder = ({ build_folder, id }: RevisionRecord, { builds }: RolloutDependencies): BuildFolder =>
  buildFolder(builds.dataDir, basename(build_folder ?? id));

/**
 * Makes the build of a revision again, in the same folder, from the same source; returns undefined when interrupted
 * first. Of concurrent revisions that share the folder, one builds and the others use the result if it is complete.
 */
async function rebuild(job: RolloutJob, tools: RolloutDependencies): Promise<BuildEnd | undefined> {
  const { revision, buildLog, signal } = job;
  const { builds, buildSlots, retry, store } = tools;
  const folder = existingBuildFolder(revision, tools);
  return runInFolderQueue(folder.root, signal, async () => {
    const release = await buildSlots.take(signal);
    if (!release) return undefined;
    try {
      const existingBuild = readBuild(folder.root);
      if (existingBuild && (await damagedFile(folder)) === undefined)
        return { kind: 'built', build: existingBuild, warnings: [] };
      const request = { ...(await buildRequest(job, tools)), revisionId: basename(folder.root) };
      // What is built now may differ from what was copied elsewhere.
      await retry(() => store.noteBuildDigest(buildName(basename(folder.root)), null));
      const end = await makeBuild(request, builds, signal);
      await buildLog.flush();
      return end;
    } finally {
      release();
    }
  });
}

async function buildRequest(
  { deployment, revision, buildLog }: RolloutJob,
  tools: RolloutDependencies,
): Promise<BuildRequest> {
  const { store, retry, userOf } = tools;
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
    user: userOf && (await retry(() => userOf(deployment))),
    log: buildLog.write,
    onCommit: (commit) => retry(() => store.noteCommit(revision.id, commit)),
  };
}

function sourceOf(
  { tenant_id }: DeploymentRecord,
  revision: RevisionRecord,
  { dataDir, cloning, retry }: RolloutDependencies,
): BuildRequest['from'] {
  const { source, source_config, source_revision_config, repo_commit_sha, source_tarball_digest } = revision;
  if (source === 'internal_source') {
    const file = uploadedFile(dataDir, source_revision_config.source_tarball_path ?? '');
    return { kind: 'tarball', file, digest: source_tarball_digest ?? '' };
  }
  const repoUrl = source_config.repo_url ?? '';
  const repoRef = source_revision_config.repo_ref ?? undefined;
  const gitSource = { kind: 'git', repoUrl, repoRef, commit: repo_commit_sha ?? undefined } as const;
  const integrationId = source_config.integration_id;
  if (!cloning || !integrationId) return gitSource;
  const token = () => retry(() => cloning.cloneToken(tenant_id, integrationId, repoUrl));
  return { ...gitSource, token, endToken: cloning.endToken };
}

/**
 * Checks the build of a revision whose agent failed, and makes it again from the same source where files are damaged.
 * With an intact build the failure is the agent's own.
 */
export async function repairBuild(job: RolloutJob, tools: RolloutDependencies): Promise<Repair> {
  const { revision, deployLog } = job;
  if (revision.build_folder === null) return { kind: 'whole' };
  const folder = buildFolder(tools.builds.dataDir, basename(revision.build_folder));
  const isThere = readBuild(folder.root) !== undefined;
  const path = isThere ? await damagedFile(folder) : undefined;
  if (isThere && path === undefined) return { kind: 'whole' };
  // A failed attempt leaves no build: the next one starts without it.
  const detail = path === undefined ? 'it is gone' : `${JSON.stringify(path)} is not as it was built`;
  const damage = `The build on this machine is damaged (${detail})`;
  deployLog.write('warning', `${damage}; making it again from the same source.`);
  const end = await rebuild(job, tools);
  if (end?.kind === 'built') return { kind: 'repaired' };
  const reason = end?.kind === 'failed' ? withoutFullStop(end.reason) : 'it was interrupted';
  return { kind: 'broken', reason: `${damage} and could not be made again: ${reason}` };
}

/** Checks and repairs the build of a supervised agent. */
export async function repairLive(spec: AgentSpec, signal: AbortSignal, tools: RolloutDependencies): Promise<Repair> {
  const { store, retry } = tools;
  if (spec.program.kind !== 'build') return { kind: 'whole' };
  const deployment = await retry(() => store.deployment(spec.deploymentId));
  const revision = await retry(() => store.findRevision(spec.deploymentId, spec.revisionId));
  if (!deployment || !revision) return { kind: 'whole' };
  return repairBuild(openJob(deployment, revision, signal, tools), tools);
}
