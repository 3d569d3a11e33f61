import { sqlStep } from './sql-step.ts';

/** Every kind of write is known by its key, and stays known when what it made is deleted. */
export const answeredWrites = sqlStep(
  '011-answered-writes',
  `
  alter table control.write_keys
    add column done boolean not null default false,
    add column answer text,
    drop constraint write_keys_deployment_id_fkey,
    drop constraint write_keys_revision_id_fkey,
    add foreign key (deployment_id) references control.deployments on delete set null,
    add foreign key (revision_id) references control.revisions on delete set null;
  update control.write_keys set done = true;
`,
);
