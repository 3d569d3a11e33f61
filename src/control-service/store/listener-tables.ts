import type { ColumnType } from 'kysely';
import type { ListenerWork } from '../rules/listener-turn.ts';

type Fixed<T> = ColumnType<T, T, never>;

/**
 * What a claim has ended as: `released` was handed back; `abandoned` is work that nobody wants any more and that left
 * something in the cluster, which has to be put back to what is live.
 */
export type ClaimEnd = 'DEPLOYED' | 'DEPLOY_FAILED' | 'REMOVED' | 'released' | 'abandoned';

/**
 * The last claim of a listener on each deployment. A new one takes the row over under an id of its own, by which
 * everything that the former holder still says is told apart.
 */
export interface ListenerClaimsTable {
  deployment_id: Fixed<string>;
  id: string;
  listener_id: string;
  work: ListenerWork;
  /** Null where whatever the deployment has in the cluster is to go. */
  revision_id: string | null;
  /** Whether somebody else was at this revision before, so that what stood there before is known no more. */
  is_resumed: boolean;
  /** The process that holds it, in its own words. */
  holder: string;
  /** Where the deployment was put when it was claimed first: it stays there. */
  namespace: string | null;
  /** Milliseconds that it is held for without a word of the holder. */
  lease_ms: number;
  /** The number of the last line of the deploy log that was kept. */
  log_sequence: ColumnType<string, string | number, string | number>;
  claimed_at: Date;
  /** Until when it is held; of one that was abandoned, from when on the way back is somebody's work. */
  expires_at: Date;
  /** Null while it is at work, also where its lease has run out. */
  ended_as: ClaimEnd | null;
}
