import type { Clock } from '../../../kit/clock.ts';
import type { HoldDecision } from '../../../contract/control/revision.ts';
import { inTransaction } from '../store/statements.ts';
import type { ControlDatabase, RevisionRecord } from '../store/tables.ts';
import { judgeHoldDecision } from './hold-decision.ts';
import { findRevision } from './repository.ts';
import { lockDeployment, refreshStatus, moveTo } from './work-repository.ts';

export const holdStore = (db: ControlDatabase, clock: Clock) => ({
  /** Begins the hold of a healthy revision: sets its end, unless an earlier start of the service did. */
  async beginHold(revisionId: string): Promise<void> {
    const revision = await db
      .selectFrom('revisions')
      .select('hold_seconds')
      .where('id', '=', revisionId)
      .executeTakeFirst();
    const now = clock.now();
    await db
      .updateTable('revisions')
      .set({ hold_ends_at: new Date(now + (revision?.hold_seconds ?? 0) * 1_000), updated_at: new Date(now) })
      .where('id', '=', revisionId)
      .where('hold_ends_at', 'is', null)
      .execute();
  },

  /**
   * Records a decision about a held revision; a discarded one ends INTERRUPTED with `message` in the same transaction.
   * Changes nothing and returns undefined where the revision has another decision or has ended by now.
   */
  async decideHold(
    deploymentId: string,
    revisionId: string,
    decision: HoldDecision,
    { why, message }: { why: string | null; message: string },
  ): Promise<RevisionRecord | undefined> {
    return inTransaction(db, async (trx) => {
      const deployment = await lockDeployment(trx, deploymentId);
      const revision = await findRevision(trx, deploymentId, revisionId);
      if (!deployment || !revision || judgeHoldDecision(revision, decision) !== 'record') return undefined;
      const now = new Date(clock.now());
      const decided = await trx
        .updateTable('revisions')
        .set({ hold_decision: decision, hold_why: why, updated_at: now })
        .where('id', '=', revisionId)
        .returningAll()
        .executeTakeFirstOrThrow();
      if (decision === 'promoted') return decided;
      const ended = await moveTo(trx, now, revisionId, 'INTERRUPTED', { message });
      await refreshStatus(trx, now, deployment);
      return ended;
    });
  },
});
