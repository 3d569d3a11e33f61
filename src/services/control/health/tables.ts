import type { Fixed } from '../store/tables.ts';

/** Figures of deployments by the minute, and by the quarter of an hour once they are old. Written by `health/repository.ts` only. */
export interface HealthFiguresTable {
  deployment_id: Fixed<string>;
  step_seconds: Fixed<number>;
  at: Fixed<Date>;
  requests: Fixed<number>;
  errors: Fixed<number>;
  runs: Fixed<number>;
  failed_runs: Fixed<number>;
  interrupted_runs: Fixed<number>;
  /** Histograms; null where they are empty. */
  run_times: Fixed<number[] | null>;
  first_events: Fixed<number[] | null>;
  memory_bytes: Fixed<string | null>;
  cpu_ms: Fixed<number>;
  sampled_ms: Fixed<number>;
  queue_length: Fixed<number | null>;
}
