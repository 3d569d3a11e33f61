import type { Decision } from '../../src/planning/trigger-types.ts';
import { deadlineIn, isOver } from './deadlines.ts';
import type { Intent } from './intent.ts';
import { saveIntents, requeueAfter, type StepResult, type ReconcileContext } from './reconcile-context.ts';

/** Poll interval for another client's revision while a request waits for it (ms). */
export const anothersMs = 5_000;

/** Waits for the revision of another client, at most as long as a revision is followed. */
export async function waitForAnother(
  work: ReconcileContext,
  intent: Intent,
  decision: Extract<Decision, { kind: 'wait' }>,
  commit: string | undefined,
): Promise<StepResult> {
  const former = intent.decision;
  const isSame = former?.kind === 'wait' && former.revisionId === decision.revisionId && former.why === decision.why;
  if (intent.state !== 'waiting' || !isSame) {
    const deadline =
      former?.kind === 'wait' && intent.deadline
        ? intent.deadline
        : deadlineIn(work.context.clock, intent.id, intent.terms.timeoutMs);
    const busy = commit === undefined ? undefined : { commit, revisionId: decision.revisionId };
    await saveIntents(work, [{ ...intent, state: 'waiting', decision, deadline }], { busy });
  }
  return requeueAfter(work, anothersMs);
}

/** A revision of others that never ends must not keep pushes from being built for ever. */
export const waitedTooLong = ({ context }: ReconcileContext, { id, decision, deadline, terms }: Intent): boolean =>
  decision?.kind === 'wait' && deadline !== undefined && isOver(context.clock, id, deadline, terms.timeoutMs);
