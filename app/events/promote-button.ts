import { sameCommit, shortCommit } from '../../src/contract/control/repo-ref.ts';
import { refusalOfFreeze, refusalOfProduction } from '../../src/deploy/commands/decide.ts';
import { refusalWords } from '../../src/deploy/commands/words.ts';
import { callOptions } from '../commands/performance.ts';
import type { AppContext, LaterTarget } from '../context.ts';
import { findNewPromotion } from '../reconcile/earlier-environment.ts';
import type { IntentFields } from '../reconcile/intent.ts';
import { isRequested } from '../reconcile/is-requested.ts';
import { promotionRequest } from '../reconcile/promotion-request.ts';

/** The deploy whose check has the button, and who pressed it. */
interface Pressed {
  newest: IntentFields;
  by: string;
  delivery: string;
}

/** Promotes the revision of a check to every deployment that follows, for those which the person may act on. */
export async function promoteFrom(
  pressed: Pressed,
  context: AppContext,
): Promise<{ did: string[]; refused: readonly string[] }> {
  const { repository, branch, deploymentId, terms } = pressed.newest;
  const { later = [] } = await context.targets.targetsOf(repository, branch);
  const next = later.filter((each) => each.terms.promotedFrom.deploymentId === deploymentId);
  if (next.length === 0) return { did: [], refused: [`no deployment comes after ${terms.deploymentName} any more`] };
  const did: string[] = [];
  const refused: string[] = [];
  for (const target of next) {
    const why = await promoteTo(target, pressed, context);
    if (why !== undefined) refused.push(why);
    else did.push(`requested the promotion of ${shortCommit(pressed.newest.commit)} to ${target.terms.deploymentName}`);
  }
  return { did, refused };
}

/** @returns why it was not requested: a clause without a full stop. */
async function promoteTo(
  target: LaterTarget,
  { newest, by, delivery }: Pressed,
  context: AppContext,
): Promise<string | undefined> {
  const { repository, branch, commit, revisionId } = newest;
  const { promotedFrom } = target.terms;
  const other = refusalOfProduction(target.terms, by);
  if (other) return refusalWords(other).why;
  const cause = { kind: 'redeploy', key: delivery, by, at: context.clock.now() } as const;
  if (await isRequested(target.deploymentId, cause, context)) return undefined;
  const frozen = refusalOfFreeze(target.terms, context.clock.now());
  if (frozen) return refusalWords(frozen).why;
  const found = await findNewPromotion(target, context, callOptions(context));
  if (!found.ok) return refusalWords(found.refusal).why;
  // The person saw this very revision.
  if (found.from.revisionId !== revisionId || !sameCommit(found.commit, commit))
    return `${promotedFrom.name} serves revision ${found.from.revisionId} by now`;
  await context.store.request(promotionRequest(target, { repository, branch, commit, cause, from: found.from }));
  return undefined;
}
