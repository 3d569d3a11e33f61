import type { ColumnType } from 'kysely';
import type { FinalRunStatus } from '../../../contract/agent/run.ts';
import type { TokenUsage, TracedStep } from '../../../contract/control/tracing-project.ts';
import type { Fixed } from '../store/tables.ts';

type FixedJson<T> = ColumnType<T, string | null, never>;

/** Dropped from old runs (`forgetOldSteps`). */
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
