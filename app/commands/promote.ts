import { sameCommit } from '../../src/contract/control/repo-ref.ts';
import { settleHold } from '../../src/deploy/machine/decide-hold.ts';
import { findRevision } from '../../src/deploy/machine/steps/read-deployment.ts';
import { isLater, type LaterTarget } from '../context.ts';
import { findNewPromotion, type NewPromotion } from '../reconcile/earlier-environment.ts';
import { approve } from '../reconcile/approve.ts';
import { awaitsApproval, type Intent, type IntentFields } from '../reconcile/intent.ts';
import { promotionRequest } from '../reconcile/promotion-request.ts';
import { isAfterComment, refusalOfFreeze } from '../../src/deploy/commands/decide.ts';
import { refused, type CommandOutcome } from '../../src/deploy/commands/outcomes.ts';
import { outcomeOf } from './carried-out.ts';
import { callOptions, causeOf, decideOnce, type Decided, type Performance } from './performance.ts';
import { isSince } from './since.ts';
import type { CommandAction } from './stored-command.ts';

type PromoteKind = 'promote' | 'approve' | 'request-promotion';
type Action<Kind extends PromoteKind> = Extract<CommandAction, { kind: Kind }>;

/**
 * Promotes the revision that is held when the command is taken, whose tests go on against the live one; else
 * promotes what the environment before serves then and has proven, or approves what waits for a reviewer then.
 */
export async function promote(performance: Performance): Promise<CommandOutcome> {
  const { target } = performance.candidate;
  const decided = await decideOnce<PromoteKind>(performance, ['promote', 'approve', 'request-promotion'], async () => {
    const held = await decideHeld(performance);
    if (held.ok || held.outcome.code !== 'nothing-held') return held;
    return isLater(target) ? decideLater(performance, target) : ((await decideApproval(performance)) ?? held);
  });
  if (!decided.ok) return decided.outcome;
  const { action } = decided;
  switch (action.kind) {
    case 'promote':
      return promoteHeld(performance, action);
    case 'approve':
      return approveWaiting(performance, action);
    case 'request-promotion':
      return promoteEarlier(performance, action);
  }
}

/**
 * Approves what waits for a reviewer only where the environment before has not proven another commit since: that one
 * takes its place.
 */
async function decideLater(
  performance: Performance,
  target: LaterTarget,
): Promise<Decided<'approve' | 'request-promotion'>> {
  const { context } = performance;
  const found = await findNewPromotion(target, context, callOptions(context));
  const approval = await decideApproval(performance, found.ok ? found.commit : undefined);
  if (approval) return approval;
  return found.ok ? decideEarlier(performance, target, found) : { ok: false, outcome: refused(found.refusal) };
}

/** Undefined where nothing waits for a reviewer, or not this commit. */
async function decideApproval(
  { candidate, writtenAt, context: { store } }: Performance,
  commit?: string,
): Promise<Decided<'approve'> | undefined> {
  const { deploymentId, terms } = candidate.target;
  const isMeant = (intent: Intent) =>
    awaitsApproval(intent) && (commit === undefined || sameCommit(intent.commit, commit));
  const waiting = (await store.openIntents(deploymentId)).find(isMeant);
  if (!waiting) return undefined;
  const of = { deployment: terms.deploymentName, commit: waiting.commit };
  if (isAfterComment(writtenAt, [waiting.createdAt]))
    return { ok: false, outcome: refused({ code: 'requested-since', ...of }) };
  return { ok: true, action: { kind: 'approve', deploymentId, ...of, intent: waiting.id } };
}

async function approveWaiting(
  { stored, repository, context }: Performance,
  action: Action<'approve'>,
): Promise<CommandOutcome> {
  const { kind: _, ...approved } = action;
  const refusal = await approve(context, { ...approved, repository, by: stored.by });
  return refusal ? refused(refusal) : outcomeOf(action);
}

async function decideHeld({ candidate, writtenAt, context }: Performance): Promise<Decided<'promote'>> {
  const { control } = context;
  const { deploymentId, terms } = candidate.target;
  const deployment = terms.deploymentName;
  const options = callOptions(context);
  const { latest_revision_id: latest } = await control.getDeployment(deploymentId, options());
  const revision = latest ? await findRevision(deploymentId, latest, { control, options }) : undefined;
  // One without an end of its hold is not healthy yet.
  if (!revision?.hold?.ends_at || revision.hold.decision !== null)
    return { ok: false, outcome: refused({ code: 'nothing-held', deployment }) };
  if (isSince(writtenAt, revision, undefined))
    return { ok: false, outcome: refused({ code: 'changed-since', deployment, revisionId: revision.id }) };
  return { ok: true, action: { kind: 'promote', deploymentId, deployment, revisionId: revision.id } };
}

async function promoteHeld({ stored, context }: Performance, action: Action<'promote'>): Promise<CommandOutcome> {
  const { deploymentId, deployment, revisionId } = action;
  const { control, store } = context;
  const options = callOptions(context);
  const why = `${stored.by} requested it in a comment.`;
  const hold = await settleHold(
    { deploymentId, revisionId, decision: 'promoted', why, control, options },
    () => undefined,
  );
  await store.wake(deploymentId);
  return hold.kind === 'promoted' ? outcomeOf(action) : refused({ code: 'hold-over', deployment, revisionId });
}

/** How many intents of the environment before are searched for the one that made its revision. */
const maxSearchedIntents = 100;

async function decideEarlier(
  { command: { ignoresFreeze }, writtenAt, context }: Performance,
  { deploymentId, terms }: LaterTarget,
  { commit, from }: NewPromotion,
): Promise<Decided<'request-promotion'>> {
  const { control, store } = context;
  const options = callOptions(context);
  const frozen = ignoresFreeze ? undefined : refusalOfFreeze(terms, context.clock.now());
  if (frozen) return { ok: false, outcome: refused(frozen) };
  const made: readonly IntentFields[] = await store.lastWithRevision(from.deploymentId, maxSearchedIntents);
  const maker = made.find(({ revisionId }) => revisionId === from.revisionId);
  const served = await findRevision(from.deploymentId, from.revisionId, { control, options });
  if (isSince(writtenAt, served ?? {}, maker)) {
    const { name: deployment, revisionId } = from;
    return { ok: false, outcome: refused({ code: 'changed-since', deployment, revisionId }) };
  }
  const of = { deploymentId, deployment: terms.deploymentName, ...(ignoresFreeze ? { ignoresFreeze } : {}) };
  return { ok: true, action: { kind: 'request-promotion', ...of, commit, from } };
}

async function promoteEarlier(
  { stored, repository, candidate, context }: Performance,
  action: Action<'request-promotion'>,
): Promise<CommandOutcome> {
  const { target, branch } = candidate;
  const { deployment } = action;
  // The deploy file orders them no more.
  if (!isLater(target)) return refused({ code: 'nothing-held', deployment });
  const { commit, from, ignoresFreeze } = action;
  const cause = { ...causeOf('redeploy', stored), ...(ignoresFreeze ? { ignoresFreeze } : {}) };
  await context.store.request(promotionRequest(target, { repository, branch, commit, cause, from }));
  return outcomeOf(action);
}
