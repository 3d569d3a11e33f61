import type { ColumnType } from 'kysely';
import type { ListenerWork } from './listener-work.ts';
import type { Fixed } from '../store/tables.ts';

/**
 * How a claim ended: `released` by its holder; `abandoned` is work that is no longer wanted and left something in the
 * cluster, so that the live revision must be restored.
 */
export type ClaimEnd = 'DEPLOYED' | 'DEPLOY_FAILED' | 'REMOVED' | 'released' | 'abandoned';

/**
 * The last claim of a listener on each deployment. A new one replaces the row under a new id, so that reports of the
 * former holder are recognized.
 */
export interface ListenerClaimsTable {
  deployment_id: Fixed<string>;
  id: string;
  listener_id: string;
  work: ListenerWork;
  /** Null where the deployment is to be removed from the cluster. */
  revision_id: string | null;
  /** Whether another holder had this revision before, so that the state before it is unknown. */
  is_resumed: boolean;
  /** The name of the process that holds it. */
  holder: string;
  /** The namespace of the deployment since its first claim: it is fixed. */
  namespace: string | null;
  /** The duration of the lease in milliseconds. */
  lease_ms: number;
  /** The number of the last stored line of the deploy log. */
  log_sequence: ColumnType<string, string | number, string | number>;
  claimed_at: Date;
  /** The end of the lease; of an abandoned claim, the time from which the restoration is available. */
  expires_at: Date;
  /** Null until it ends, also after its lease has expired. */
  ended_as: ClaimEnd | null;
}
