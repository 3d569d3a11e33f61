import type { HandlerContext } from '../../../app/events/event-types.ts';
import { onCommand } from '../../../app/commands/on-command.ts';
import { parseComment } from '../../../src/deploy/commands/parse.ts';
import { handleEvent, onBranchDeleted, onChecksChanged, onPush } from '../../../app/events/handle-event.ts';
import { onRequestedAction, onRerun } from '../../../app/events/check-actions.ts';
import type { AppContext } from '../../../app/context.ts';
import { noExaminer } from '../events/handler-fixture.ts';
import type { Delivery } from './simulation.ts';
import { branch, repository } from './terms.ts';

/** Hands a delivery to its handler. @returns what was done. */
export async function deliver({ guid, requests }: Delivery, context: AppContext): Promise<readonly string[]> {
  const handling: HandlerContext = { context, delivery: guid, pullRequests: noExaminer };
  const by = 'octocat';
  if (requests.kind === 'push') {
    const { after } = requests;
    return after === undefined
      ? onBranchDeleted({ kind: 'branch-deleted', repository, branch, why: 'the branch was deleted' }, handling)
      : onPush({ kind: 'push', repository, branch, after, why: 'a branch was pushed' }, handling);
  }
  if (requests.kind === 'comment') {
    const { body, kind: _, ...at } = requests;
    const parsed = parseComment(body);
    if (parsed.kind === 'none') throw new Error(`${body} is not a command`);
    const comment = { ...at, repository, by: { login: at.by, id: 5 }, parsed, isLocked: false };
    return onCommand({ kind: 'command', ...comment, why: 'a person gave a command' }, handling);
  }
  if (requests.kind === 'event') {
    const { name, payload } = requests;
    return (await handleEvent({ id: guid, name, payload }, context, noExaminer)).did;
  }
  if (requests.kind === 'checks') {
    const why = 'a check has ended';
    return onChecksChanged({ kind: 'checks-changed', repository, headSha: requests.commit, why }, handling);
  }
  const { commit: headSha, name, kind } = requests;
  const check = { name, externalId: undefined };
  if (kind === 'rerun') {
    const why = 'a person re-requested a check';
    return onRerun({ kind, repository, headSha, branch, check, pullRequests: [], by, why }, handling);
  }
  const why = 'a person requested an action';
  return onRequestedAction({ kind: 'press', repository, headSha, check, button: kind, by, why }, handling);
}
