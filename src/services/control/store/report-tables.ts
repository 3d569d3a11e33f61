import type { ColumnType, Generated } from 'kysely';
import type { FinalRunStatus } from '../../../contract/agent/run.ts';
import type { BaselineRequest } from '../../../contract/control/baseline.ts';
import type { TokenUsage, TracedStep } from '../../../contract/control/tracing-project.ts';
import type { VerdictReport } from '../../../contract/control/verdict.ts';
import type { Fixed } from './access-tables.ts';

/** Verdicts on revisions, as their testers reported them. */
export interface VerdictsTable {
  id: Fixed<string>;
  /** Orders the verdicts. */
  sequence: Generated<string>;
  deployment_id: Fixed<string>;
  revision_id: Fixed<string>;
  /** `sequence` of the revision. */
  revision_sequence: Fixed<string>;
  kind: Fixed<VerdictReport['kind']>;
  reporter: Fixed<VerdictReport['reporter']>;
  details_url: Fixed<string | null>;
  tests: ColumnType<VerdictReport['tests'], string, never>;
  created_at: Fixed<Date>;
}

/** What smoke tests measured of revisions, one row for each test of a revision. */
export interface BaselinesTable {
  revision_id: Fixed<string>;
  /** The SHA-256 of what the test sends and expects. */
  test_hash: Fixed<string>;
  deployment_id: Fixed<string>;
  /** Orders the rows by their last report. */
  sequence: Generated<string>;
  answers: ColumnType<BaselineRequest['answers'], string, string>;
  taken_at: Date;
}

type FixedJson<T> = ColumnType<T, string | null, never>;

/** Dropped from old runs (`deleteOldSteps`). */
type FixedDetail<T> = ColumnType<T, string | null, null>;

/** Runs that agents reported, each once. */
export interface TracedRunsTable {
  project_id: Fixed<string>;
  id: Fixed<string>;
  thread_id: Fixed<string | null>;
  assistant_id: Fixed<string>;
  graph_id: Fixed<string>;
  revision_id: Fixed<string | null>;
  status: Fixed<FinalRunStatus>;
  error: FixedJson<{ error: string; message: string } | null>;
  tokens: FixedJson<TokenUsage | null>;
  created_at: Fixed<Date>;
  started_at: Fixed<Date | null>;
  ended_at: Fixed<Date>;
  input: FixedDetail<unknown>;
  output: FixedDetail<unknown>;
  steps: FixedDetail<TracedStep[] | null>;
  /** Whether the input or the output was cut, or steps were left out. */
  is_cut: ColumnType<boolean, boolean, never>;
  trigger: Fixed<string | null>;
  /** What lists show; kept with the run. */
  input_preview: Fixed<string | null>;
  output_preview: Fixed<string | null>;
}

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
