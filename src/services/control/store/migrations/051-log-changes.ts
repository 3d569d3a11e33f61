import { sqlStep } from './sql-step.ts';

/** Notifies the channel `landfall_log` of a revision with more lines, another status, or that is no longer the live one. */
export const logChanges = sqlStep(
  '051-log-changes',
  `
  create function control.tell_lines() returns trigger language plpgsql as $$
  begin
    perform pg_notify('landfall_log', revision_id::text) from (select distinct revision_id from added) as changed;
    return null;
  end $$;
  create trigger log_lines_told after insert on control.log_lines
    referencing new table as added for each statement execute function control.tell_lines();

  create function control.tell_status() returns trigger language plpgsql as $$
  begin
    perform pg_notify('landfall_log', old.id::text);
    return null;
  end $$;
  create trigger revisions_told after update of status on control.revisions
    for each row when (old.status is distinct from new.status) execute function control.tell_status();
  create trigger revisions_gone_told after delete on control.revisions
    for each row execute function control.tell_status();

  create function control.tell_former() returns trigger language plpgsql as $$
  begin
    perform pg_notify('landfall_log', old.active_revision_id::text);
    return null;
  end $$;
  create trigger former_told after update of active_revision_id on control.deployments
    for each row when (old.active_revision_id is not null and old.active_revision_id is distinct from new.active_revision_id)
    execute function control.tell_former();
`,
);
