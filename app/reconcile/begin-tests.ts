import { followFound } from './begin-following.ts';
import type { Undecided } from './intent.ts';
import { observeDeployment } from './observation.ts';
import { withDecisionOutcome } from './outcomes.ts';
import { saveIntents, type ReconcileContext, type StepResult } from './reconcile-context.ts';

/** Begins to test the live revision, for a person who requested only that. Another one that serves by now is not tested. */
export async function beginTests(work: ReconcileContext, intent: Undecided, revisionId: string): Promise<StepResult> {
  const observation = await observeDeployment(work);
  const { active_revision_id: active } = observation.deployment;
  if (active !== revisionId) {
    const decision = { kind: 'skip', code: 'other-serves', active, broken: revisionId } as const;
    return saveIntents(work, [withDecisionOutcome(intent, 'skipped', decision, work.context.clock.now())]);
  }
  const decision = { kind: 'adopt', code: 'live', revisionId, commit: intent.commit } as const;
  return followFound(work, { ...intent, decision }, revisionId, 'adopted', observation);
}
