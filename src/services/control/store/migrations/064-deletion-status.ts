import { sqlStep } from './sql-step.ts';

/** control-service.md, States, has one status of a deletion; `deletion` has its state. */
export const deletionStatus = sqlStep(
  '064-deletion-status',
  "update control.deployments set status = 'AWAITING_DELETE' where status = 'AWAITING_FINAL_DELETE';",
);
