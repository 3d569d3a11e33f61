import * as z from 'zod';

/** The most points of one response. */
export const mostHealthPoints = 500;

/** Figures of one step. A figure that was not measured is null; times are milliseconds. */
export const healthPoint = z.looseObject({
  /** Its beginning. */
  at: z.string(),
  /** Requests through the gateway, and those that got a 5xx or no response. */
  requests: z.int(),
  errors: z.int(),
  /** Ended runs, and those that failed. */
  runs: z.int(),
  failed_runs: z.int(),
  /** From the start of a run to its end. */
  run_p50_ms: z.number().nullable(),
  run_p95_ms: z.number().nullable(),
  /** From the request of a stream to its first event. */
  first_event_p50_ms: z.number().nullable(),
  first_event_p95_ms: z.number().nullable(),
  /** Of the agent's process: the largest, and the share of one processor. */
  memory_bytes: z.number().nullable(),
  cpu: z.number().nullable(),
  /** The most pending runs. */
  queue_length: z.number().nullable(),
});
export type HealthPoint = z.infer<typeof healthPoint>;

/** GET /v2/deployments/{id}/health: figures that the service keeps, and the revisions that went live meanwhile. */
export const health = z.looseObject({
  step_seconds: z.int(),
  /** Oldest first, without gaps. */
  points: z.array(healthPoint),
  deploys: z.array(z.looseObject({ revision_id: z.string(), at: z.string() })),
});
export type Health = z.infer<typeof health>;

/** The last hour when both are absent; at most 30 days back. */
export const healthQuery = z.strictObject({
  from: z.iso.datetime({ offset: true }).optional(),
  until: z.iso.datetime({ offset: true }).optional(),
});
