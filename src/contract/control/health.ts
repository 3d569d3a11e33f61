import * as z from 'zod';

/** The maximum number of points in one response. */
export const maxHealthPoints = 240;

/** The metrics of one step; null if not measured. Times are in milliseconds. */
export const healthPoint = z.looseObject({
  /** The start of the step. */
  at: z.string(),
  /**
   * Admitted requests through the gateway, and those that got a 5xx or no whole response, at the time of their arrival.
   */
  requests: z.int(),
  errors: z.int(),
  /** Runs that ended, as the agent reports them, and those that failed or ran out of time. */
  runs: z.int(),
  failed_runs: z.int(),
  /** The `runs` that stopped before their end: they wait for an answer, or were cancelled. */
  interrupted_runs: z.int(),
  /** From the start of a run to its end. Percentiles are within 10 %. */
  run_p50_ms: z.number().nullable(),
  run_p95_ms: z.number().nullable(),
  /** From the request for a run's stream (`POST .../runs/stream`) to its first event after `metadata`. */
  first_event_p50_ms: z.number().nullable(),
  first_event_p95_ms: z.number().nullable(),
  /** Of the agent's process: the maximum memory, and the share of one processor. */
  memory_bytes: z.number().nullable(),
  cpu: z.number().nullable(),
  /** The maximum number of pending runs. */
  queue_length: z.number().nullable(),
});
export type HealthPoint = z.infer<typeof healthPoint>;

/** GET /v2/deployments/{id}/health: stored metrics, and the revisions that went live in the period. */
export const health = z.looseObject({
  step_seconds: z.int(),
  /** Oldest first, without gaps. */
  points: z.array(healthPoint),
  deploys: z.array(z.looseObject({ revision_id: z.string(), at: z.string() })),
});
export type Health = z.infer<typeof health>;

/** The period. Without `from`, it is the hour before `until` or now. At most the last 31 days are returned. */
export const healthQuery = z.strictObject({
  from: z.iso.datetime({ offset: true }).optional(),
  until: z.iso.datetime({ offset: true }).optional(),
});
