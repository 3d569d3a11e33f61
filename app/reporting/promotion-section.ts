import { asCode } from '../../src/deploy/words/sanitize.ts';
import type { NotPromoted } from '../../src/deploy/machine/after-deploy.ts';
import type { IntentFields, PromotedTo } from '../reconcile/intent.ts';
import { promotionAfter } from '../reconcile/promotion-after.ts';

const list = (names: readonly string[]): string => names.map((name) => asCode(name, 100)).join(', ');

/** What follows from an ended deploy in the next environment, in escaped Markdown; empty where none follows it. */
export function promotionSection(intent: IntentFields): string {
  const { promotesTo = [] } = intent.terms;
  if (!intent.end || promotesTo.length === 0) return '';
  const after = promotionAfter(intent, intent.end);
  if (after !== 'promote') return unpromoted[after](list(promotesTo));
  const { promoted = [] } = intent;
  return promoted.map((each) => promotedWords[each.code](asCode(each.deployment, 100))).join(' ');
}

const promotedWords: Record<PromotedTo['code'], (deployment: string) => string> = {
  requested: (deployment) => `**Promoted** to ${deployment}, whose own check on this commit shows the progress.`,
  held: (deployment) => `${deployment} holds promotions: press **Promote**, or give \`/promote\` on the pull request.`,
  unread: (deployment) =>
    `Nothing was promoted to ${deployment}, because the deploy file could not be read. Give \`/promote\` on the pull request.`,
};

/** Where the deploy did not serve or was no deploy, its own sentence says all. */
const unpromoted: Record<NotPromoted, (names: string) => string> = {
  restored: () => '',
  'only-tested': () => '',
  'not-live': () => '',
  untested: (names) => `Nothing goes on to ${names}, because no smoke test proves it. Add smoke-tests to its entry.`,
  unproven: (names) => `Nothing goes on to ${names}, because it is not proven. Run the smoke tests again by Re-run.`,
};
