import { allEntriesOf } from '../../contract/control/pages.ts';
import type { Desired, DesiredExternalDocker, DesiredGithub } from '../file/desired.ts';
import type { Deployment } from '../../contract/control/deployment.ts';
import type { GithubIntegration, GithubRepository } from '../../contract/control/integration.ts';
import type { Listener } from '../../contract/control/listener.ts';
import type { Revision } from '../../contract/control/revision.ts';
import { type ImageLookup, isPinned } from '../../contract/control/container.ts';
import { ifFound } from '../../contract/service-error.ts';
import { sameCommit, shortCommit } from '../../contract/control/repo-ref.ts';
import { determineCommit, pinnedCommit, type RequestedCommit } from '../rules/commit.ts';
import { newerThan } from '../rules/find-made.ts';
import { previewObstacles } from '../rules/plan-identity.ts';
import { phaseOf } from '../rules/plan-rebuild.ts';
import type { IdLookup, Obstacle, ObservedState } from '../rules/plan-types.ts';
import { isRepositoryNamed, sameRepository, shownRepository } from '../file/repository-url.ts';
import { promotedCommit, type PromotedCommit } from './earlier-environment.ts';
import { findDeployments } from './find-deployments.ts';
import type { DeployRun } from './deploy-run.ts';
import { readRevisions, type LiveRevision } from './steps/read-deployment.ts';

/** The observed state, or why the deployment is ambiguous. */
type TargetLookup =
  | { kind: 'seen'; seen: ObservedState; live?: LiveRevision | undefined }
  | { kind: 'impossible'; obstacles: readonly Obstacle[] };

/** Looks at what runs: the deployment, its live and its newest revision, and what a plan needs beside them. Reads only. */
export async function observe(run: DeployRun): Promise<TargetLookup> {
  const { desired } = run;
  run.emit({ kind: 'looking', deployment: desired.deploymentId ?? desired.name ?? '' });
  const [deployment, ...others] = await findDeployments(run);
  if (deployment && others.length > 0) {
    return { kind: 'impossible', obstacles: [ambiguousName([deployment, ...others])] };
  }
  run.emit({
    kind: 'looked',
    deploymentName: deployment?.name ?? desired.name,
    deploymentId: deployment?.id,
    activeRevisionId: deployment?.active_revision_id ?? undefined,
    latestRevisionId: deployment?.latest_revision_id ?? undefined,
  });
  const requested = await requestedCommit(desired, deployment, run);
  const { previewRun, after } = run.request;
  const revisionsBefore = deployment && after ? await revisionsOf(deployment, run) : undefined;
  const promoted = await promotedFrom(revisionsBefore?.live, requested, run);
  if (promoted?.kind === 'impossible') return promoted;
  const commit = promoted?.commit ?? requested;
  run.known.commit = commit;
  run.known.buildOf = promoted?.buildOf;
  const obstacles = [
    ...(deployment ? previewObstacles(previewRun?.key, deployment) : []),
    ...(previewRun?.mustPin && desired.source === 'github' && pinnedCommit(commit) === undefined ? [notPinned] : []),
  ];
  if (obstacles.length > 0) return { kind: 'impossible', obstacles };
  if (commit.kind === 'known' && commit.insteadOf) {
    const [own, head] = [shortCommit(commit.insteadOf), shortCommit(commit.sha)];
    run.note({ code: 'ref-moved', own, head });
  }
  const { tarball } = run.request;
  const image = await lookUpImage(desired, run);
  if (!deployment) return { kind: 'seen', seen: { commit, tarball, image, ...(await found(desired, run)) } };
  const { latest, live } = revisionsBefore ?? (await revisionsOf(deployment, run));
  if (live && !live.revision) run.note({ code: 'live-unreported', revisionId: live.id });
  const onTheirWay = await othersOnTheirWay(desired, deployment, latest, commit, run);
  return { kind: 'seen', live, seen: { deployment, live: live?.revision, latest, onTheirWay, commit, tarball, image } };
}

const revisionsOf = (deployment: Deployment, run: DeployRun): ReturnType<typeof readRevisions> =>
  readRevisions(deployment, { control: run.request.control, options: () => run.reading() });

/** A fork may push another commit until the service builds its branch. */
const notPinned: Obstacle = { field: 'commit', code: 'not-pinned' };

/** What a tag stands for now. `rebuild: never` compares the names alone. */
async function lookUpImage(desired: Desired, run: DeployRun): Promise<ImageLookup | undefined> {
  if (desired.source !== 'external_docker' && desired.source !== 'internal_docker') return undefined;
  const { imageUri, rebuild } = desired;
  if (imageUri === undefined || isPinned(imageUri) || rebuild === 'never') return undefined;
  return run.request.lookUpImage?.(imageUri, run.reading());
}

/** What stands in the way where a name is that of several deployments. */
export const ambiguousName = (deployments: readonly Deployment[]): Obstacle => ({
  field: 'name',
  code: 'ambiguous-name',
  name: deployments[0]?.name,
  ids: deployments.map(({ id }) => id),
});

/** What the environment before has proven, for a deployment that is promoted from one. */
async function promotedFrom(
  live: LiveRevision | undefined,
  requested: RequestedCommit,
  run: DeployRun,
): Promise<PromotedCommit | undefined> {
  const { after, head } = run.request;
  if (after === undefined) return undefined;
  const sha = requested.kind === 'known' ? (requested.insteadOf ?? requested.sha) : undefined;
  const served = live?.revision?.source_revision_config.repo_commit_sha;
  const serving = live && served ? { revisionId: live.id, commit: served } : undefined;
  return promotedCommit(after, { requested: sha, head, live: serving }, run);
}

async function requestedCommit(
  desired: Desired,
  deployment: Deployment | undefined,
  run: DeployRun,
): Promise<RequestedCommit> {
  if (desired.source !== 'github') {
    return { kind: 'unknown', because: { code: desired.source === 'internal_source' ? 'folder' : 'image' } };
  }
  const { workflow, head, commit, control } = run.request;
  return determineCommit({
    commit,
    pinsCommits: commit !== undefined && (await control.features(run.reading())).pinsCommits,
    repoUrl: desired.repoUrl ?? deployment?.source_config.repo_url ?? undefined,
    repoRef: desired.repoRef ?? deployment?.source_revision_config.repo_ref ?? undefined,
    workflow,
    head,
  });
}

/** The ids that a creation needs and that were not given. */
async function found(desired: Desired, run: DeployRun): Promise<Pick<ObservedState, 'integration' | 'listener'>> {
  if (desired.source === 'github') {
    return desired.integrationId === undefined ? { integration: await resolveIntegration(desired, run) } : {};
  }
  if (desired.source !== 'external_docker') return {};
  return desired.listenerId === undefined ? { listener: await resolveListener(desired, run) } : {};
}

/** Whether a revision of this commit waits behind a newer one can only be seen where revisions are listed. */
async function othersOnTheirWay(
  desired: Desired,
  deployment: Deployment,
  latest: Revision | undefined,
  commit: RequestedCommit,
  run: DeployRun,
): Promise<Revision[]> {
  const waits = latest && phaseOf(latest, deployment.active_revision_id) === 'on-its-way';
  if (desired.source !== 'github' || commit.kind === 'unknown' || !waits) return [];
  if (sameCommit(latest.source_revision_config.repo_commit_sha, commit.sha)) return [];
  const page = await ifFound(run.request.control.listRevisions(deployment.id, { limit: 20 }, run.reading()));
  const { resources } = page ?? { resources: [] };
  const newer = newerThan(deployment.active_revision_id, resources) ?? resources;
  return newer.filter((each) => each.id !== latest.id && phaseOf(each, deployment.active_revision_id) === 'on-its-way');
}

/** The integration that reaches the repository, if none was given. */
async function resolveIntegration({ repoUrl }: DesiredGithub, run: DeployRun): Promise<IdLookup | undefined> {
  if (repoUrl === undefined) return undefined;
  const { control } = run.request;
  const listed = await ifFound(control.listIntegrations(run.reading()));
  if (!listed) return { kind: 'none', note: { code: 'ids-unlisted', of: 'integration' } };
  if (listed.length === 0) return { kind: 'none', note: { code: 'ids-absent', of: 'integration' } };
  const reaching: GithubIntegration[] = [];
  const unreported: GithubIntegration[] = [];
  for (const integration of listed) {
    const repositories = await ifFound(control.listRepositories(integration.id, run.reading()));
    if (!repositories) unreported.push(integration);
    else if (repositories.some((repository) => isThere(repository, repoUrl))) reaching.push(integration);
  }
  const [first, ...others] = reaching.length > 0 ? reaching : unreported;
  if (!first) return { kind: 'none', note: { code: 'repository-unreached', repoUrl: shownRepository(repoUrl) } };
  if (others.length > 0) return { kind: 'choices', choices: [first, ...others].map(named) };
  const note = { code: 'integration-found', name: named(first).name, reaches: reaching.length > 0 } as const;
  return { kind: 'one', id: first.id, note };
}

const isThere = ({ url, owner, name }: GithubRepository, repoUrl: string) =>
  sameRepository(url, repoUrl) || isRepositoryNamed(repoUrl, owner, name);

const named = ({ id, name }: GithubIntegration) => ({ id, name: name ?? 'unnamed' });

/** The listener that can serve the namespace, if none was given. */
async function resolveListener({ k8sNamespace }: DesiredExternalDocker, run: DeployRun): Promise<IdLookup> {
  const listed = await ifFound(allEntriesOf((page) => run.request.control.listListeners(page, run.reading())));
  if (!listed) return { kind: 'none', note: { code: 'ids-unlisted', of: 'listener' } };
  const matching = listed.filter((listener) => serves(listener, k8sNamespace));
  const [first, ...others] = matching.length > 0 ? matching : listed;
  if (!first) return { kind: 'none', note: { code: 'ids-absent', of: 'listener' } };
  const nameOf = ({ id, compute_id }: Listener): string => compute_id ?? id;
  if (others.length > 0) {
    return { kind: 'choices', choices: [first, ...others].map((each) => ({ id: each.id, name: nameOf(each) })) };
  }
  return { kind: 'one', id: first.id, note: { code: 'listener-found', name: nameOf(first) } };
}

/** A listener that names no namespaces does not say that it is bound to some. */
function serves({ compute_config }: Listener, namespace: string | undefined): boolean {
  const namespaces = compute_config?.k8s_namespaces ?? [];
  return namespace === undefined || namespaces.length === 0 || namespaces.includes(namespace);
}
