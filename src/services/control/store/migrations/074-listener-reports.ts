import { sqlStep } from './sql-step.ts';

export const listenerReports = sqlStep(
  '074-listener-reports',
  'alter table control.listeners add column last_report_at timestamptz;',
);
