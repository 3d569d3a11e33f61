import { sqlStep } from './sql-step.ts';

export const deletion = sqlStep(
  '050-deletion',
  `
  alter table control.deployments
    add column deletion text not null default 'none' check (deletion in ('none', 'asked', 'stopped')),
    add column delete_tracing_project boolean not null default false,
    add column deletion_problem text;
  create index deployments_to_delete on control.deployments (id) where deletion <> 'none';
`,
);
