import { findRevision } from '../../src/deploy/machine/steps/read-deployment.ts';
import type { AppContext } from '../context.ts';
import type { Ended, Intent } from '../reconcile/intent.ts';
import type { CommandOutcome } from '../../src/deploy/commands/outcomes.ts';
import { causeKey, type CommandAction, type StoredCommand } from './stored-command.ts';

/** How long one call of the service may take with all its repetitions (ms). */
const callMs = 20_000;

/**
 * What an earlier attempt of a command has done: it is done, whatever has changed since, and whoever may give it now.
 * Undefined where nothing was decided, or nothing came of that yet.
 */
export async function outcomeOfEarlier(
  { action, commentId, by }: StoredCommand,
  context: Pick<AppContext, 'store' | 'control' | 'clock'>,
): Promise<CommandOutcome | undefined> {
  if (!action) return undefined;
  switch (action.kind) {
    case 'deploy':
    case 'roll-back':
    case 'request-promotion':
    case 'test': {
      const requested = await context.store.intentsOf(action.deploymentId, action.commit);
      return requested.some(({ cause }) => cause.key === causeKey(commentId)) ? outcomeOf(action) : undefined;
    }
    case 'promote': {
      const { control, clock } = context;
      const options = () => ({ deadline: clock.now() + callMs });
      const revision = await findRevision(action.deploymentId, action.revisionId, { control, options });
      return revision?.hold?.decision === 'promoted' ? outcomeOf(action) : undefined;
    }
    case 'approve': {
      const approvals = (await context.store.intent(action.intent))?.approvals ?? [];
      return approvals.some((each) => each.by === by) ? outcomeOf(action) : undefined;
    }
    case 'cancel':
      return cancelledOf(action, context);
    case 'preview':
      return undefined;
  }
}

/** The outcome of an action that is carried out. */
export function outcomeOf(action: Exclude<CommandAction, { kind: 'cancel' | 'preview' }>): CommandOutcome {
  const { deployment } = action;
  switch (action.kind) {
    case 'deploy': {
      const { commit, branch, isOfPull } = action;
      return { kind: 'done', code: 'deployed', deployment, commit, branch, isOfPull };
    }
    case 'roll-back': {
      const { revisionId, commit } = action;
      return { kind: 'done', code: 'rolled-back', deployment, revisionId, commit };
    }
    case 'test': {
      const { revisionId, commit, tests } = action;
      return { kind: 'done', code: 'tests-requested', deployment, revisionId, commit, tests };
    }
    case 'request-promotion': {
      const { commit, from } = action;
      return { kind: 'done', code: 'promotion-requested', deployment, commit, from: from.name };
    }
    case 'approve':
      return { kind: 'done', code: 'approved', deployment, commit: action.commit };
    case 'promote':
      return { kind: 'done', code: 'promoted', deployment, revisionId: action.revisionId };
  }
}

/** The commits whose requests were cancelled; undefined if none was. */
export async function cancelledOf(
  { deployment, intents }: Extract<CommandAction, { kind: 'cancel' }>,
  { store }: Pick<AppContext, 'store'>,
): Promise<CommandOutcome | undefined> {
  const ends = await Promise.all(intents.map((id) => store.intent(id)));
  const commits = [...new Set(ends.flatMap((intent) => (intent && isCancelled(intent) ? [intent.commit] : [])))];
  return commits.length > 0 ? { kind: 'done', code: 'cancelled', deployment, commits } : undefined;
}

const isCancelled = ({ state, decision }: Intent): boolean =>
  state === ('ended' satisfies Ended['state']) &&
  decision?.kind === 'skip' &&
  'code' in decision &&
  decision.code === 'cancelled';
