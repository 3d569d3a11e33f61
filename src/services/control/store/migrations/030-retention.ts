import { sqlStep } from './sql-step.ts';

/** What goes by its age is found by it, and revisions by the build that they name. */
export const retention = sqlStep(
  '030-keeping',
  `
  create index log_lines_by_age on control.log_lines (at);
  create index revisions_by_build on control.revisions (build_folder) where build_folder is not null;
`,
);
