import type { Desired } from '../config/desired.ts';
import type { Deployment } from '../contract/control/deployment.ts';
import type { Revision } from '../contract/control/revision.ts';
import { isNotOffered } from '../contract/service-error.ts';
import { commitOf, sameCommit, type KnownCommit } from '../decide/commit.ts';
import { standingOf } from '../decide/plan-rebuild.ts';
import type { Obstacle, Seen } from '../decide/plan-types.ts';
import { attempt } from './attempt.ts';
import { find } from './find.ts';
import { resolveIntegration, resolveListener } from './resolve.ts';
import type { Story } from './story.ts';

/** What was seen, or why nobody can say which deployment is meant. */
export type Sighting = { kind: 'seen'; seen: Seen } | { kind: 'impossible'; obstacles: readonly Obstacle[] };

/** Looks at what runs: the deployment, its live and its newest revision, and what a plan needs beside them. Reads only. */
export async function look(story: Story): Promise<Sighting> {
  const { desired } = story.request;
  story.tell({ kind: 'looking', deployment: desired.deploymentId ?? desired.name ?? '' });
  const [deployment, ...others] = await find(story);
  if (deployment && others.length > 0) return severalOfOneName([deployment, ...others]);
  story.tell({
    kind: 'looked',
    deploymentName: deployment?.name ?? desired.name,
    deploymentId: deployment?.id,
    activeRevisionId: deployment?.active_revision_id ?? undefined,
    latestRevisionId: deployment?.latest_revision_id ?? undefined,
  });
  const commit = askedCommit(desired, deployment, story);
  story.known.commit = commit;
  const { tarball } = story.request;
  if (!deployment) return { kind: 'seen', seen: { commit, tarball, ...(await found(desired, story)) } };
  const latest = deployment.latest_revision_id
    ? await story.request.control.getRevision(deployment.id, deployment.latest_revision_id, story.reading())
    : undefined;
  const live = await liveRevision(deployment, latest, story);
  const onTheirWay = await othersOnTheirWay(desired, deployment, latest, commit, story);
  return { kind: 'seen', seen: { deployment, live, latest, onTheirWay, commit, tarball } };
}

/** Why nothing is done where a name is that of several deployments. */
export function severalOfOneName(deployments: readonly Deployment[]): Extract<Sighting, { kind: 'impossible' }> {
  const problem = `${deployments.length} deployments are named ${deployments[0]?.name}: ${deployments.map(({ id }) => id).join(', ')}`;
  return {
    kind: 'impossible',
    obstacles: [{ field: 'name', problem, advice: 'Set deployment-id to one of these ids.' }],
  };
}

function askedCommit(desired: Desired, deployment: Deployment | undefined, story: Story): KnownCommit {
  if (desired.source !== 'github') {
    const what = desired.source === 'internal_source' ? 'a folder' : 'an image';
    return { kind: 'unknown', why: `${what} is not built from a commit here` };
  }
  const { workflow, head } = story.request;
  return commitOf({
    repoUrl: desired.repoUrl ?? deployment?.source_config.repo_url ?? undefined,
    repoRef: desired.repoRef ?? deployment?.source_revision_config.repo_ref ?? undefined,
    workflow,
    head,
  });
}

/** The ids that nobody gave and that a creation needs. */
async function found(desired: Desired, story: Story): Promise<Pick<Seen, 'integration' | 'listener'>> {
  if (desired.source === 'github') {
    return desired.integrationId === undefined ? { integration: await resolveIntegration(desired, story) } : {};
  }
  if (desired.source !== 'external_docker') return {};
  return desired.listenerId === undefined ? { listener: await resolveListener(desired, story) } : {};
}

async function liveRevision(
  deployment: Deployment,
  latest: Revision | undefined,
  story: Story,
): Promise<Revision | undefined> {
  const id = deployment.active_revision_id;
  if (!id || id === latest?.id) return id ? latest : undefined;
  const read = await attempt(story.request.control.getRevision(deployment.id, id, story.reading()));
  if (read.ok) return read.value;
  if (read.error.kind !== 'missing') throw read.error;
  story.note(`the service does not tell anything of the live revision ${id}`);
  return undefined;
}

/** Whether a revision of this commit waits behind a newer one can only be seen where revisions are listed. */
async function othersOnTheirWay(
  desired: Desired,
  deployment: Deployment,
  latest: Revision | undefined,
  commit: KnownCommit,
  story: Story,
): Promise<Revision[]> {
  const waits = latest && standingOf(latest, deployment.active_revision_id) === 'on-its-way';
  if (desired.source !== 'github' || commit.kind === 'unknown' || !waits) return [];
  if (sameCommit(latest.source_revision_config.repo_commit_sha, commit.sha)) return [];
  const page = await attempt(story.request.control.listRevisions(deployment.id, { limit: 20 }, story.reading()));
  if (!page.ok) {
    if (!isNotOffered(page.error)) throw page.error;
    return [];
  }
  const newer = page.value.resources.findIndex(({ id }) => id === deployment.active_revision_id);
  return page.value.resources
    .slice(0, newer === -1 ? undefined : newer)
    .filter((each) => each.id !== latest.id && standingOf(each, deployment.active_revision_id) === 'on-its-way');
}
