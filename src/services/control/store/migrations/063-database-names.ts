import { sqlStep } from './sql-step.ts';

/** Databases that exist keep their names, which hold the deployment's id, until the service's next start renames them. */
export const databaseNames = sqlStep(
  '063-database-names',
  `
  alter table control.deployments add column database_name text;
  update control.deployments set database_name = 'landfall_agent_' || replace(id::text, '-', '');
  alter table control.deployments alter column database_name set not null;
  create unique index deployments_database_name on control.deployments (database_name);
`,
);
