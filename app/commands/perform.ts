import type { Revision } from '../../src/contract/control/revision.ts';
import { settleHold } from '../../src/deploy/machine/decide-hold.ts';
import { findRevision } from '../../src/deploy/machine/steps/read-deployment.ts';
import { cancelRequests, isCancellable } from '../reconcile/cancel-requests.ts';
import type { IntentFields } from '../reconcile/intent.ts';
import { findRollbackTarget } from '../targets/rollback-target.ts';
import { refusalOfCommit, refusalOfFreeze } from '../../src/deploy/commands/decide.ts';
import { cancelledOf, outcomeOf } from './carried-out.ts';
import { refused, type CommandOutcome } from '../../src/deploy/commands/outcomes.ts';
import { callOptions, causeOf, decideOnce, requestOf, type Performance } from './performance.ts';

/** Builds the head of a deployment's branch again. The head that is read now is the only one that is built. */
export async function deploy(performance: Performance): Promise<CommandOutcome> {
  const { command, stored, repository, candidate, context } = performance;
  const { target, branch, isOfPull } = candidate;
  const decided = await decideOnce(performance, 'deploy', async () => {
    const head = await context.githubApi.head(repository, branch);
    const refusal = refusalOfCommit(command.commit, candidate, head?.sha);
    if (refusal || !head) return { ok: false, outcome: refused(refusal ?? { code: 'branch-gone', branch }) };
    const { deploymentId, terms } = target;
    const { ignoresFreeze } = command;
    const frozen = ignoresFreeze ? undefined : refusalOfFreeze(terms, context.clock.now());
    if (frozen) return { ok: false, outcome: refused(frozen) };
    const of = { deploymentId, deployment: terms.deploymentName, ...(ignoresFreeze ? { ignoresFreeze } : {}) };
    return { ok: true, action: { kind: 'deploy', ...of, commit: head.sha, branch, isOfPull } };
  });
  if (!decided.ok) return decided.outcome;
  const { commit, ignoresFreeze } = decided.action;
  await context.store.request(
    requestOf(performance, {
      commit,
      cause: { ...causeOf('redeploy', stored), isPinned: true, ...(ignoresFreeze ? { ignoresFreeze } : {}) },
      sending: { kind: 'restate', repoRef: target.repoRef },
    }),
  );
  return outcomeOf(decided.action);
}

/** How many of a deployment's intents are searched for the one that made the live revision. */
const maxSearchedIntents = 100;

/** Restores the revision that was live before the one that serves when the command is taken. */
export async function rollBack(performance: Performance): Promise<CommandOutcome> {
  const { stored, candidate, writtenAt, context } = performance;
  const { store, control } = context;
  const { deploymentId, terms } = candidate.target;
  const deployment = terms.deploymentName;
  const decided = await decideOnce(performance, 'roll-back', async () => {
    const intents: readonly IntentFields[] = (
      await store.lastWithRevision(deploymentId, maxSearchedIntents)
    ).toReversed();
    const found = await findRollbackTarget(deploymentId, intents, control, { isOneOfThem: false });
    if (!found.ok) {
      const { ok: _, ...why } = found;
      return { ok: false, outcome: refused({ code: 'no-rollback', deployment, why }) };
    }
    const options = callOptions(context);
    const served = await findRevision(deploymentId, found.serving, { control, options });
    const maker = intents.findLast(({ revisionId }) => revisionId === found.serving);
    if (isSince(writtenAt, served ?? {}, maker))
      return { ok: false, outcome: refused({ code: 'changed-since', deployment, revisionId: found.serving }) };
    const { id: revisionId, source_revision_config: config } = found.revision;
    const made = intents.findLast((intent) => intent.revisionId === revisionId);
    const commit = config.repo_commit_sha ?? made?.commit;
    if (!commit) return { ok: false, outcome: refused({ code: 'commit-unknown', deployment, revisionId }) };
    return { ok: true, action: { kind: 'roll-back', deploymentId, deployment, revisionId, commit } };
  });
  if (!decided.ok) return decided.outcome;
  const { revisionId, commit } = decided.action;
  const sending = { kind: 'redeploy', revisionId } as const;
  await store.request(requestOf(performance, { commit, cause: causeOf('rollback', stored), sending }));
  return outcomeOf(decided.action);
}

/** Promotes the revision that is held when the command is taken. Its tests go on against the live one. */
export async function promote(performance: Performance): Promise<CommandOutcome> {
  const { stored, candidate, writtenAt, context } = performance;
  const { control, store } = context;
  const { deploymentId, terms } = candidate.target;
  const deployment = terms.deploymentName;
  const options = callOptions(context);
  const decided = await decideOnce(performance, 'promote', async () => {
    const { latest_revision_id: latest } = await control.getDeployment(deploymentId, options());
    const revision = latest ? await findRevision(deploymentId, latest, { control, options }) : undefined;
    // One without an end of its hold is not healthy yet.
    if (!revision?.hold?.ends_at || revision.hold.decision !== null)
      return { ok: false, outcome: refused({ code: 'nothing-held', deployment }) };
    if (isSince(writtenAt, revision, undefined))
      return { ok: false, outcome: refused({ code: 'changed-since', deployment, revisionId: revision.id }) };
    return { ok: true, action: { kind: 'promote', deploymentId, deployment, revisionId: revision.id } };
  });
  if (!decided.ok) return decided.outcome;
  const { revisionId } = decided.action;
  const why = `${stored.by} requested it in a comment.`;
  const hold = await settleHold(
    { deploymentId, revisionId, decision: 'promoted', why, control, options },
    () => undefined,
  );
  await store.wake(deploymentId);
  if (hold.kind !== 'promoted') return refused({ code: 'hold-over', deployment, revisionId });
  return outcomeOf(decided.action);
}

/** Ends what waits or was not sent when the command is taken; what is requested after it goes on. */
export async function cancel(performance: Performance): Promise<CommandOutcome> {
  const { stored, candidate, context } = performance;
  const { deploymentId, terms } = candidate.target;
  const deployment = terms.deploymentName;
  const decided = await decideOnce(performance, 'cancel', async () => {
    const open = await context.store.openIntents(deploymentId);
    const intents = open.filter(isCancellable).map(({ id }) => id);
    if (intents.length > 0) return { ok: true, action: { kind: 'cancel', deploymentId, deployment, intents } };
    const [late] = open;
    if (late) return { ok: false, outcome: refused({ code: 'too-late', deployment, commit: late.commit }) };
    return { ok: false, outcome: refused({ code: 'nothing-to-cancel', deployment }) };
  });
  if (!decided.ok) return decided.outcome;
  const { intents } = decided.action;
  await cancelRequests(context, deploymentId, intents, stored.by);
  const [first] = await Promise.all(intents.map((id) => context.store.intent(id)));
  const late = refused({ code: 'too-late', deployment, commit: first?.commit ?? '' });
  return (await cancelledOf(decided.action, context)) ?? late;
}

/** How far the clocks of GitHub, the service and the App may be apart (ms). */
const skewMs = 10_000;

/**
 * Whether a revision serves, or is held, only since a comment was written: the person did not mean it. It counts when it
 * was made, and when the App saw it go live, where it followed it. Unknown times count as before.
 */
function isSince(
  writtenAt: number,
  { created_at: created }: Pick<Revision, 'created_at'>,
  maker: Pick<IntentFields, 'rollout'> | undefined,
): boolean {
  const made = Date.parse(created ?? '');
  const live = maker?.rollout?.seen.findLast(({ status }) => status === 'DEPLOYED')?.at;
  return [made, live ?? Number.NaN].some((at) => at > writtenAt + skewMs);
}
