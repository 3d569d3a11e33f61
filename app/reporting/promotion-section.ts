import { asSentence } from '../../src/kit/plain-text.ts';
import { asCode, asMarkdown } from '../../src/deploy/words/sanitize.ts';
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
  return promoted.map(promotedWords).join('\n\n');
}

function promotedWords(promoted: PromotedTo): string {
  const deployment = asCode(promoted.deployment, 100);
  switch (promoted.code) {
    case 'requested':
      return `**Promoted** to ${deployment}, whose own check on this commit shows the progress.`;
    case 'held':
      return `${deployment} holds promotions: press **Promote**, or give \`/promote\` on the pull request.`;
    case 'refused':
      return `Not promoted to ${deployment}: ${asMarkdown(asSentence(promoted.why), 1000)} Correct that, and press **Promote**, or give \`/promote\` on the pull request.`;
  }
}

/** Where the deploy did not serve or was no deploy, its own sentence says all. */
const unpromoted: Record<NotPromoted, (names: string) => string> = {
  restored: () => '',
  'only-tested': () => '',
  'not-live': () => '',
  untested: (names) => `Nothing goes on to ${names}, because no smoke test proves it. Add smoke-tests to its entry.`,
  unproven: (names) => `Nothing goes on to ${names}, because it is not proven. Run the smoke tests again by Re-run.`,
};
