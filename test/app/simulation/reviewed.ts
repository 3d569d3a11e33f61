import type { StoredCommand } from '../../../app/commands/stored-command.ts';
import type { IntentFields } from '../../../app/reconcile/intent.ts';
import type { Simulation } from './simulation.ts';
import { deploymentIds } from './terms.ts';

/** The one who reviews what goes to the second environment. */
export const reviewer = 'octocat';

/** Nothing reaches an environment with reviewers but commits that one approved, or what is restored. */
export function reviewed(
  { setting, control, deliveries, reviewEndedAt }: Simulation,
  intents: ReadonlyMap<string, readonly IntentFields[]>,
  given: readonly StoredCommand[],
): string[] {
  const [, secondId] = deploymentIds;
  const held = control.deployments.get(secondId);
  if (!setting.isReviewed || !held) return [];
  const approved = [
    ...deliveries.flatMap(({ requests, storedAt }) =>
      requests.kind === 'approve' && storedAt !== undefined ? [{ commit: requests.commit, at: storedAt }] : [],
    ),
    ...given.flatMap(({ action, takenAt }) =>
      action?.kind === 'approve' ? [{ commit: action.commit, at: takenAt }] : [],
    ),
  ];
  return held.all.flatMap(({ id, madeBy, madeAt }) => {
    const intent = (intents.get(secondId) ?? []).find((each) => madeBy.who === 'app' && each.id === madeBy.key);
    if (!intent || intent.sending.kind === 'redeploy' || madeAt >= reviewEndedAt) return [];
    const isApproved = approved.some(({ commit, at }) => commit === intent.commit && at <= madeAt);
    return isApproved ? [] : [`${id} of ${intent.commit} was made without the approval of ${reviewer}`];
  });
}
