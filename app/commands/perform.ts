import { findRevision } from '../../src/deploy/machine/steps/read-deployment.ts';
import { isLater } from '../context.ts';
import { cancelRequests, isCancellable } from '../reconcile/cancel-requests.ts';
import type { IntentFields } from '../reconcile/intent.ts';
import { findRollbackTarget } from '../targets/rollback-target.ts';
import { refusalOfCommit, refusalOfFreeze } from '../../src/deploy/commands/decide.ts';
import { cancelledOf, outcomeOf } from './carried-out.ts';
import { refused, type CommandOutcome } from '../../src/deploy/commands/outcomes.ts';
import { isSince } from './since.ts';
import { callOptions, causeOf, decideOnce, requestOf, type Performance } from './performance.ts';

/** Builds the head of a deployment's branch again. The head that is read now is the only one that is built. */
export async function deploy(performance: Performance): Promise<CommandOutcome> {
  const { command, stored, repository, candidate, context } = performance;
  const { target, branch, isOfPull } = candidate;
  if (isLater(target)) {
    const { deploymentName: deployment, promotedFrom } = target.terms;
    return refused({ code: 'only-promoted', deployment, from: promotedFrom.name });
  }
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
