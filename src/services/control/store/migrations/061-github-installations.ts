import { sqlStep } from './sql-step.ts';

export const githubInstallations = sqlStep(
  '061-github-installations',
  `
  create table control.github_installations (
    id bigint primary key,
    account text not null,
    is_suspended boolean not null,
    is_gone boolean not null,
    seen_at timestamptz not null
  );
  alter table control.integrations add column unbound_at timestamptz;
`,
);
