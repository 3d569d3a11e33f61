import { findRevision } from '../../src/deploy/machine/steps/read-deployment.ts';
import type { IntentFields } from '../reconcile/intent.ts';
import { findRollbackTarget } from '../targets/rollback-target.ts';
import { refusalOfCommit } from './decide.ts';
import { outcomeOf } from './carried-out.ts';
import { isSince } from './changed-since.ts';
import { refused, type CommandOutcome } from './outcomes.ts';
import { causeOf, decideOnce, requestOf, type Performance } from './performance.ts';

/** Builds the head of a deployment's branch again. The head that is read now is the only one that is built. */
export async function deploy(performance: Performance): Promise<CommandOutcome> {
  const { command, stored, repository, candidate, context } = performance;
  const { target, branch, isOfPull } = candidate;
  const decided = await decideOnce(performance, 'deploy', async () => {
    const head = await context.githubApi.head(repository, branch);
    const refusal = refusalOfCommit(command.commit, candidate, head?.sha);
    if (refusal || !head) return { ok: false, outcome: refused(refusal ?? { code: 'branch-gone', branch }) };
    const { deploymentId, terms } = target;
    const of = { deploymentId, deployment: terms.deploymentName };
    return { ok: true, action: { kind: 'deploy', ...of, commit: head.sha, branch, isOfPull } };
  });
  if (!decided.ok) return decided.outcome;
  const { commit } = decided.action;
  await context.store.request(
    requestOf(performance, {
      commit,
      cause: { ...causeOf('redeploy', stored), isPinned: true },
      sending: { kind: 'restate', repoRef: target.repoRef },
    }),
  );
  return outcomeOf(decided.action);
}

/** How long one call of the service may take with all its repetitions (ms). */
const callMs = 20_000;

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
    const options = () => ({ deadline: context.clock.now() + callMs });
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
