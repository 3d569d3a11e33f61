import type { ColumnType } from 'kysely';

type Fixed<T> = ColumnType<T, T, never>;

/** What a claim has ended as: `released` was handed back, `over` has nothing left to be done. */
export type ClaimEnd = 'DEPLOYED' | 'DEPLOY_FAILED' | 'REMOVED' | 'released' | 'over';

/**
 * The last claim of a listener on each deployment. A new one takes the row over under an id of its own, by which
 * everything that the former holder still says is told apart.
 */
export interface ListenerClaimsTable {
  deployment_id: Fixed<string>;
  id: string;
  listener_id: string;
  /** Null where the deployment is to be removed. */
  revision_id: string | null;
  /** The process that holds it, in its own words. */
  holder: string;
  /** Where the deployment was put when it was claimed first: it stays there. */
  namespace: string | null;
  /** Milliseconds that it is held for without a word of the holder. */
  lease_ms: number;
  /** The number of the last line of the deploy log that was kept. */
  log_sequence: ColumnType<string, string | number, string | number>;
  claimed_at: Date;
  expires_at: Date;
  /** Null while it is at work, also where its lease has run out. */
  ended_as: ClaimEnd | null;
}
