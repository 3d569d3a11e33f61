import { sqlStep } from './sql-step.ts';

/** What lists of runs show of each, and how many runs were interrupted. Runs of before have no previews. */
export const runPreviews = sqlStep(
  '083-run-previews',
  `
  alter table control.traced_runs add column trigger text, add column input_preview text, add column output_preview text;
  alter table control.health_figures add column interrupted_runs integer not null default 0;
`,
);
