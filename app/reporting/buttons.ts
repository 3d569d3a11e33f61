import type { CheckContent } from '../github/github-api.ts';
import type { EndKind, Intent } from '../reconcile/intent.ts';

type Button = NonNullable<CheckContent['actions']>[number];

/** The identifiers that `check_run.requested_action` brings back. */
const rollbackButton = 'rollback';
const redeployButton = 'redeploy';

// GitHub bounds label, description and identifier at 20, 40 and 20 characters.
const rollback: Button = {
  label: 'Rollback',
  description: 'Back to the revision that served before',
  identifier: rollbackButton,
};
const redeploy: Button = {
  label: 'Redeploy',
  description: 'Build the head of the branch again',
  identifier: redeployButton,
};

/** Outcomes with a live revision, which can be rolled back. */
const serves: ReadonlySet<EndKind> = new Set(['deployed', 'unproven', 'broken']);
/** Outcomes that another intent of the commit reports: its check has the buttons. */
const stoodFor: ReadonlySet<EndKind> = new Set(['superseded', 'other-commit', 'joined']);
/** Skips that a person may override. */
const overruled = new Set(['skip-word', 'paths-untouched', 'rolled-back-before']);

/** The buttons of an intent's check: none while it is under way. */
export function buttonsOf(intent: Intent): readonly Button[] {
  const { state, end, decision } = intent;
  if (state === 'held') return [redeploy];
  if (!end || stoodFor.has(end.kind)) return [];
  if (end.kind === 'skipped') return decision?.kind === 'skip' && overruled.has(decision.code) ? [redeploy] : [];
  return [...(serves.has(end.kind) && hasFormer(intent) ? [rollback] : []), redeploy];
}

const hasFormer = ({ formerLiveRevisionId: former, revisionId }: Intent): boolean =>
  former !== undefined && former !== null && former !== revisionId;
