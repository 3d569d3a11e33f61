import type { DeploymentPatchRequest } from '../contract/control/deployment.ts';
import type { ServiceError } from '../contract/service-error.ts';
import type { Plan } from '../decide/plan-types.ts';
import { settleCreation, settlePatch } from './settle.ts';
import { upload } from './upload.ts';
import type { Story } from './story.ts';
import type { BegunHow } from './story-event.ts';
import { lagMs, settleMs, write } from './write.ts';

/** What came of carrying a plan out. */
export type Begun =
  | { kind: 'follow'; how: BegunHow; deploymentId: string; revisionId: string }
  /** Nothing is on its way: what was live stays live. */
  | { kind: 'kept' }
  /** Somebody created a deployment of this name in the meantime, or made a revision. */
  | { kind: 'overtaken'; error: ServiceError }
  /** The service took the change, and made no revision of it. */
  | { kind: 'no-revision' }
  /** Whether the request took effect cannot be told. It is never sent again. */
  | { kind: 'unsettled'; what: string; error: ServiceError }
  /** The folder is no longer what was planned: nothing of it was taken. */
  | { kind: 'not-uploaded'; why: string };

/** Does what the plan says. Beside a rollback this is the only place that changes anything at the service. */
export async function carryOut(planned: Exclude<Plan, { kind: 'impossible' }>, story: Story): Promise<Begun> {
  const begun = await (planned.kind === 'create' ? create(planned, story) : alter(planned, story));
  if (begun.kind === 'follow') {
    story.known.revisionId = begun.revisionId;
    story.tell(toldAs(begun));
  }
  return begun;
}

const toldAs = ({ how, deploymentId, revisionId }: Extract<Begun, { kind: 'follow' }>) =>
  ({ kind: 'begun', how, deploymentId, revisionId }) as const;

async function create({ request, upload: planned }: Extract<Plan, { kind: 'create' }>, story: Story): Promise<Begun> {
  const { control } = story.request;
  const answered = await write(story, (options) => control.createDeployment(request, options));
  if (!answered.ok && answered.error.kind === 'conflict') return { kind: 'overtaken', error: answered.error };
  if (!answered.ok && answered.error.effect === 'none') throw answered.error;
  if (answered.ok) story.saw(answered.value);
  else story.tell({ kind: 'settling', why: story.redact(answered.error.message) });
  const first = answered.ok
    ? { deployment: answered.value, revisionId: answered.value.latest_revision_id ?? undefined }
    : undefined;
  const made = first?.revisionId ? first : await settleCreation(request, first?.deployment.id, settleMs, story);
  if (answered.ok || made) settled(story);
  if (made?.revisionId && planned) return fill(made.deployment.id, made.revisionId, planned, story);
  if (made?.revisionId) {
    return { kind: 'follow', how: 'created', deploymentId: made.deployment.id, revisionId: made.revisionId };
  }
  return answered.ok ? { kind: 'no-revision' } : { kind: 'unsettled', what: 'the creation', error: answered.error };
}

/** The first revision of a creation waits for a folder: it is not followed, the one that the upload makes is. */
function fill(deploymentId: string, waiting: string, planned: { digest: string }, story: Story): Promise<Begun> {
  const filling = {
    kind: 'patch',
    deploymentId,
    request: {},
    changes: [],
    makesRevision: true,
    formerLatestRevisionId: waiting,
    notes: [],
    upload: planned,
  } as const;
  return alter(filling, story);
}

async function alter(planned: Extract<Plan, { kind: 'patch' | 'none' }>, story: Story): Promise<Begun> {
  const { deploymentId, adopt } = planned;
  const kept: Begun = adopt ? { kind: 'follow', how: 'adopted', deploymentId, revisionId: adopt } : { kind: 'kept' };
  if (planned.kind === 'none') return kept;
  const { control } = story.request;
  const uploaded = planned.upload && (await upload(deploymentId, story));
  if (uploaded?.kind === 'changed') return { kind: 'not-uploaded', why: uploaded.why };
  const request = uploaded ? naming(uploaded.path, planned.request) : planned.request;
  const ifLatest = planned.formerLatestRevisionId ?? undefined;
  const answered = await write(story, (options) =>
    control.patchDeployment(deploymentId, request, { ...options, ifLatest }),
  );
  if (!answered.ok && answered.error.status === 412) return { kind: 'overtaken', error: answered.error };
  if (!answered.ok && answered.error.effect === 'none') throw answered.error;
  if (answered.ok) story.saw(answered.value);
  else story.tell({ kind: 'settling', why: story.redact(answered.error.message) });
  const latest = answered.ok ? answered.value.latest_revision_id : null;
  const bound = latest && latest !== planned.formerLatestRevisionId ? latest : undefined;
  if (answered.ok && (bound || !planned.makesRevision)) {
    settled(story);
    return bound && planned.makesRevision ? { kind: 'follow', how: 'patched', deploymentId, revisionId: bound } : kept;
  }
  const sent = { ...planned, request, digest: planned.upload?.digest };
  const found = await settlePatch(sent, answered.ok ? lagMs : settleMs, story);
  if (answered.ok || found) settled(story);
  if (found?.revisionId) return { kind: 'follow', how: 'patched', deploymentId, revisionId: found.revisionId };
  if (found) return kept;
  return answered.ok ? { kind: 'no-revision' } : { kind: 'unsettled', what: 'the change', error: answered.error };
}

const naming = (path: string, request: DeploymentPatchRequest): DeploymentPatchRequest => ({
  ...request,
  source_revision_config: { ...request.source_revision_config, source_tarball_path: path },
});

function settled(story: Story): void {
  story.known.writing = false;
  story.known.changed = true;
}
