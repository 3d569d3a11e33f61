import { sqlStep } from './sql-step.ts';

/** What the build of a revision warned of. */
export const buildWarnings = sqlStep(
  '084-build-warnings',
  `alter table control.revisions add column build_warnings text[] not null default '{}'`,
);
