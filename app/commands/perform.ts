import type { AppContext } from '../context.ts';
import type { InstallationRepository, PullRequestState } from '../github/github-api.ts';
import type { Cause, DeployRequest } from '../reconcile/deploy-request.ts';
import { findRollbackTarget } from '../targets/rollback-target.ts';
import { refusalOfCommit, type Candidate } from './decide.ts';
import type { Command } from './definitions.ts';
import { refused, type CommandOutcome } from './outcomes.ts';
import type { CommandAction, StoredCommand } from './stored-command.ts';

/** A command that is carried out on one deployment. It may be carried out again after a crash. */
export interface Performance {
  command: Command;
  stored: StoredCommand;
  repository: InstallationRepository;
  pull: PullRequestState;
  candidate: Candidate;
  context: AppContext;
}

/** What a command is to change, or why it changes nothing. */
type Decided<Kind extends CommandAction['kind']> =
  { ok: true; action: Extract<CommandAction, { kind: Kind }> } | { ok: false; outcome: CommandOutcome };

/** Stores the action before it is carried out, so that it is the same one whenever that happens. */
async function decideOnce<Kind extends CommandAction['kind']>(
  { stored, context: { store } }: Performance,
  kind: Kind,
  decide: () => Promise<Decided<Kind>>,
): Promise<Decided<Kind>> {
  const isKind = (action: CommandAction): action is Extract<CommandAction, { kind: Kind }> => action.kind === kind;
  if (stored.action && isKind(stored.action)) return { ok: true, action: stored.action };
  const decided = await decide();
  if (!decided.ok) return decided;
  const action = await store.decideCommand(stored, decided.action);
  return isKind(action) ? { ok: true, action } : decided;
}

/** The cause of what a comment requests: once for each comment, however often it is delivered. */
const causeOf = (kind: Cause['kind'], { commentId, by, takenAt }: StoredCommand): Cause => ({
  kind,
  key: `comment-${commentId}`,
  by,
  at: takenAt,
});

const requestOf = (
  { repository, candidate: { target, branch } }: Performance,
  requested: Pick<DeployRequest, 'commit' | 'cause' | 'sending'>,
): DeployRequest => ({
  deploymentId: target.deploymentId,
  repository,
  branch,
  terms: target.terms,
  ...requested,
});

/** Builds the head of a deployment's branch again. The head that is read now is the only one that is built. */
export async function deploy(performance: Performance): Promise<CommandOutcome> {
  const { command, stored, repository, candidate, context } = performance;
  const { target, branch, isOfPull } = candidate;
  const decided = await decideOnce(performance, 'deploy', async () => {
    const head = await context.githubApi.head(repository, branch);
    const refusal = refusalOfCommit(command.commit, candidate, head?.sha);
    if (refusal || !head) return { ok: false, outcome: refused(refusal ?? { code: 'branch-gone', branch }) };
    return { ok: true, action: { kind: 'deploy', deploymentId: target.deploymentId, commit: head.sha } };
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
  return { kind: 'done', code: 'deployed', deployment: target.terms.deploymentName, commit, branch, isOfPull };
}

/** How many of a deployment's intents are searched for the one that made the live revision. */
const maxSearchedIntents = 100;

/** Restores the revision that was live before the one that serves when the command is taken. */
export async function rollBack(performance: Performance): Promise<CommandOutcome> {
  const { stored, pull, candidate, context } = performance;
  const { store, control } = context;
  const { deploymentId, terms } = candidate.target;
  const decided = await decideOnce(performance, 'roll-back', async () => {
    const intents = (await store.lastWithRevision(deploymentId, maxSearchedIntents)).toReversed();
    const found = await findRollbackTarget(deploymentId, intents, control, { isOneOfThem: false });
    if (!found.ok) {
      const { ok: _, ...why } = found;
      return { ok: false, outcome: refused({ code: 'no-rollback', deployment: terms.deploymentName, why }) };
    }
    const { id: revisionId, source_revision_config: config } = found.revision;
    const commit = config.repo_commit_sha ?? pull.headSha;
    return { ok: true, action: { kind: 'roll-back', deploymentId, revisionId, commit } };
  });
  if (!decided.ok) return decided.outcome;
  const { revisionId, commit } = decided.action;
  const sending = { kind: 'redeploy', revisionId } as const;
  await store.request(requestOf(performance, { commit, cause: causeOf('rollback', stored), sending }));
  return { kind: 'done', code: 'rolled-back', deployment: terms.deploymentName, revisionId, commit };
}
