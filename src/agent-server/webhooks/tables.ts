import type { Generated } from 'kysely';

/** Webhooks of runs that have ended: written by the statement that ends the run, and read whole (`Deliveries.claim`). */
export interface WebhookDeliveriesTable {
  delivery_id: Generated<string>;
  host: string;
  attempts: Generated<number>;
  next_attempt_at: Date;
  run_id: string;
}
