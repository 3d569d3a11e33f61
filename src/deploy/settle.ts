import type { Deployment, DeploymentCreateRequest } from '../contract/control/deployment.ts';
import type { Revision } from '../contract/control/revision.ts';
import { carriesSource, holdsSettings } from '../decide/plan-carried.ts';
import type { Plan } from '../decide/plan-types.ts';
import { attempt } from './attempt.ts';
import { findByName } from './find.ts';
import type { Story } from './story.ts';

/** What a write is found to have done. Without a revision it changed settings in place. */
export interface Settled {
  deployment: Deployment;
  revisionId: string | undefined;
}

/** Looks for at most `ms` until `sight` finds something. A look that fails is taken again. */
async function looking<T>(ms: number, story: Story, sight: () => Promise<T | undefined>): Promise<T | undefined> {
  const until = story.request.clock.now() + ms;
  for (;;) {
    const seen = await attempt(sight());
    if (seen.ok && seen.value !== undefined) return seen.value;
    if (!seen.ok) story.tell({ kind: 'poll-failed', why: story.redact(seen.error.message) });
    if (story.request.clock.now() >= until) return undefined;
    await story.untilNextPoll(until, seen.ok ? 0 : seen.error.retryAfterMs);
  }
}

/**
 * What became of a creation whose answer never came, or lacked its first revision. By name it was not there before, so
 * one of this name and source is what was asked for, whoever made it.
 */
export function settleCreation(
  { name, source }: DeploymentCreateRequest,
  id: string | undefined,
  ms: number,
  story: Story,
): Promise<Settled | undefined> {
  return looking(ms, story, async () => {
    const found = id
      ? [story.saw(await story.request.control.getDeployment(id, story.reading(Infinity)))]
      : await findByName(name, story);
    const made = found.find((deployment) => deployment.source === source && deployment.latest_revision_id);
    return made && { deployment: made, revisionId: made.latest_revision_id ?? undefined };
  });
}

/**
 * What became of a PATCH whose answer never came, or told no new revision. One that was made since and carries what was
 * asked for is taken, whoever made it: a second PATCH could only make another.
 */
export function settlePatch(
  planned: Pick<
    Extract<Plan, { kind: 'patch' }>,
    'deploymentId' | 'request' | 'makesRevision' | 'formerLatestRevisionId'
  > & { digest?: string | undefined },
  ms: number,
  story: Story,
): Promise<Settled | undefined> {
  const { deploymentId, request, makesRevision, formerLatestRevisionId, digest } = planned;
  const { control } = story.request;
  return looking(ms, story, async () => {
    const deployment = story.saw(await control.getDeployment(deploymentId, story.reading(Infinity)));
    if (!holdsSettings(request, deployment)) return undefined;
    if (!makesRevision) return { deployment, revisionId: undefined };
    const latest = deployment.latest_revision_id;
    if (!latest || latest === formerLatestRevisionId) return undefined;
    const newest = await control.getRevision(deploymentId, latest, story.reading(Infinity));
    const candidates = carriesSource(request, newest, digest)
      ? [newest]
      : await newerThan(formerLatestRevisionId, deploymentId, story);
    const made = candidates.find((revision) => carriesSource(request, revision, digest));
    return made && { deployment, revisionId: made.id };
  });
}

/** What became of a redeploy whose answer never came: the revision that is the newest since. */
export function settleRedeploy(before: Deployment, ms: number, story: Story): Promise<Settled | undefined> {
  return looking(ms, story, async () => {
    const deployment = story.saw(await story.request.control.getDeployment(before.id, story.reading(Infinity)));
    const latest = deployment.latest_revision_id;
    return latest && latest !== before.latest_revision_id ? { deployment, revisionId: latest } : undefined;
  });
}

/** Where somebody else's revision came after ours, ours is further down the list. */
async function newerThan(former: string | null, deploymentId: string, story: Story): Promise<readonly Revision[]> {
  const page = await attempt(story.request.control.listRevisions(deploymentId, { limit: 20 }, story.reading(Infinity)));
  if (!page.ok) return [];
  const end = page.value.resources.findIndex(({ id }) => id === former);
  return end === -1 ? [] : page.value.resources.slice(0, end);
}
