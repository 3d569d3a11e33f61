import { sqlStep } from './sql-step.ts';

/** Revisions that are held before traffic: for how long, until when, and what was decided. */
export const holds = sqlStep(
  '080-holds',
  `
  alter table control.revisions
    add column hold_seconds integer,
    add column hold_ends_at timestamptz,
    add column hold_decision text,
    add column hold_why text;
`,
);
