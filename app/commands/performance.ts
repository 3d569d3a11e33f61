import type { CallOptions } from '../../src/contract/call-options.ts';
import type { AppContext } from '../context.ts';
import type { InstallationRepository, PullRequestState } from '../github/github-api.ts';
import type { Cause, DeployRequest } from '../reconcile/deploy-request.ts';
import type { TargetCandidate } from './candidates.ts';
import type { Command } from '../../src/deploy/commands/definitions.ts';
import type { CommandOutcome } from '../../src/deploy/commands/outcomes.ts';
import { causeKey, type CommandAction, type StoredCommand } from './stored-command.ts';

/** A command that is carried out on one deployment. It may be carried out again after a crash. */
export interface Performance {
  command: Command;
  stored: StoredCommand;
  repository: InstallationRepository;
  pull: PullRequestState;
  candidate: TargetCandidate;
  /** When the comment was written (ms since the epoch). */
  writtenAt: number;
  context: AppContext;
}

/** What a command is to change, or why it changes nothing. */
export type Decided<Kind extends CommandAction['kind']> =
  { ok: true; action: Extract<CommandAction, { kind: Kind }> } | { ok: false; outcome: CommandOutcome };

/** Stores the action before it is carried out, so that it is the same one whenever that happens. */
export async function decideOnce<Kind extends CommandAction['kind']>(
  { stored, context: { store } }: { stored: StoredCommand; context: Pick<AppContext, 'store'> },
  kind: Kind | readonly Kind[],
  decide: () => Promise<Decided<Kind>>,
): Promise<Decided<Kind>> {
  const isKind = (action: CommandAction): action is Extract<CommandAction, { kind: Kind }> =>
    [kind].flat().some((each) => each === action.kind);
  if (stored.action && isKind(stored.action)) return { ok: true, action: stored.action };
  const decided = await decide();
  if (!decided.ok) return decided;
  const action = await store.decideCommand(stored, decided.action);
  return isKind(action) ? { ok: true, action } : decided;
}

/** The cause of what a comment requests: once for each comment, however often it is delivered. */
export const causeOf = (kind: Cause['kind'], { commentId, by, takenAt }: StoredCommand): Cause => ({
  kind,
  key: causeKey(commentId),
  by,
  at: takenAt,
});

export const requestOf = (
  { repository, candidate: { target, branch } }: Performance,
  requested: Pick<DeployRequest, 'commit' | 'cause' | 'sending'>,
): DeployRequest => ({
  deploymentId: target.deploymentId,
  repository,
  branch,
  terms: target.terms,
  ...requested,
});

/** How long one call of the service may take with all its repetitions (ms). */
const callMs = 20_000;

/** The options of each call of the service. */
export const callOptions =
  ({ clock }: Pick<AppContext, 'clock'>) =>
  (): CallOptions => ({ deadline: clock.now() + callMs });
