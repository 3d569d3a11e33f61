import { sql } from 'kysely';
import type { ControlDatabase } from './tables.ts';

/** User ids that belong to no one else: `first` and the `count - 1` after it. */
export interface IdRange {
  first: number;
  count: number;
}

/** The most taken ids that are skipped: after very many deployments most of the small range are taken. */
const maxTaken = 10_000;

export const agentUserStore = (db: ControlDatabase) => ({
  /**
   * The constant id of a deployment's own user. Ids are tried in a circle from a start of this database's own, so that
   * services on one machine rarely conflict. @throws Error when all are taken.
   */
  async agentUser(deploymentId: string, range: IdRange): Promise<number> {
    for (let taken = 0; taken < maxTaken; taken += 1) {
      const known = await db
        .selectFrom('agent_users')
        .select('uid')
        .where('deployment_id', '=', deploymentId)
        .executeTakeFirst();
      if (known) return Number(known.uid);
      const next = await sql<{ number: string }>`select nextval('control.agent_uids') as number`.execute(db);
      const uid = range.first + (Number(next.rows[0]?.number ?? 0) % range.count);
      await db
        .insertInto('agent_users')
        .values({ deployment_id: deploymentId, uid: String(uid) })
        // On a conflict another deployment has the number, so the next one is tried, or this one got a user
        // concurrently.
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    }
    throw new Error('All user ids that this machine reserves for deployments are taken. Delete unused deployments.');
  },

  /** The numbers of all users that deployments have or had. */
  async agentUids(): Promise<number[]> {
    const found = await db.selectFrom('agent_users').select('uid').execute();
    return found.map(({ uid }) => Number(uid));
  },
});
