import type { CheckPressed, PressedButton } from '../../../app/handlers/event-types.ts';
import { onBranchDeleted, onPush } from '../../../app/handlers/commits.ts';
import type { Handling } from '../../../app/handlers/handling.ts';
import { onPress } from '../../../app/handlers/press.ts';
import { onRerun } from '../../../app/handlers/rerun.ts';
import type { World } from '../../../app/world.ts';
import type { Delivery } from './house.ts';
import { branch, repository } from './terms.ts';

/** Hands a delivery to its handler. @returns what was done. */
export async function deliver({ guid, asks }: Delivery, world: World): Promise<readonly string[]> {
  const handling: Handling = { world, delivery: guid, pullRequests: { examine: async () => undefined } };
  const by = 'octocat';
  if (asks.kind === 'push') {
    const { after } = asks;
    return after === undefined
      ? onBranchDeleted({ kind: 'branch-deleted', repository, branch, why: 'the branch was deleted' }, handling)
      : onPush({ kind: 'push', repository, branch, after, why: 'a branch was pushed' }, handling);
  }
  const { commit: headSha, name, kind } = asks;
  const check: CheckPressed = { name, externalId: undefined };
  if (kind === 'rerun') {
    const why = 'a person asked for a check again';
    return onRerun({ kind, repository, headSha, branch, check, pullRequests: [], by, why }, handling);
  }
  const button: PressedButton = kind;
  return onPress({ kind: 'press', repository, headSha, check, button, by, why: 'a person pressed a button' }, handling);
}
