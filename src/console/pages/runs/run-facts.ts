import { duration } from '../../parts/words.ts';
import type { TracedRunResponse, TracedStep } from '../../../contract/control/tracing-project.ts';

/** The duration of a run from its start, or until now: `4.2 s`. */
export function runDuration({ started_at, ended_at }: { started_at: string | null; ended_at: string | null }): string {
  if (started_at === null) return 'not started';
  const end = ended_at === null ? Date.now() : Date.parse(ended_at);
  return duration(Math.max(0, end - Date.parse(started_at)));
}

export const stepMs = ({ started_at, ended_at }: TracedStep): number | undefined =>
  ended_at === null ? undefined : Math.max(0, Date.parse(ended_at) - Date.parse(started_at));

/** The reasons for which values of a run are absent. */
export interface AbsentValues {
  inputs: string;
  outputs: string;
}

const notKept =
  'Not recorded, or removed since: only the newest runs keep their values, at most 2,000 runs and 128 MiB in a tracing project. If new runs have none either, redeploy the agent: its server is of an earlier version.';
const hidden = (variable: string): string => `Hidden by the agent’s settings (${variable}).`;

/**
 * The message in place of absent inputs and outputs. The service sends null for hidden values. If all steps have null,
 * values are hidden; otherwise null is the value itself.
 */
export function absentValues({ input, output, steps = [] }: TracedRunResponse): AbsentValues {
  if (steps.length === 0 && input == null && output == null) return { inputs: notKept, outputs: notKept };
  const succeeded = steps.filter(({ ended_at, error }) => ended_at !== null && error === null);
  const hidesInputs = steps.length > 0 && input == null && steps.every((step) => step.input == null);
  const hidesOutputs = succeeded.length > 0 && output == null && succeeded.every((step) => step.output == null);
  return {
    inputs: hidesInputs ? hidden('LANGSMITH_HIDE_INPUTS') : 'None.',
    outputs: hidesOutputs ? hidden('LANGSMITH_HIDE_OUTPUTS') : 'None.',
  };
}
