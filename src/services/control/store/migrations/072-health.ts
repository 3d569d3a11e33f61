import { sqlStep } from './sql-step.ts';

export const health = sqlStep(
  '072-health',
  `
  create table control.health_figures (
    deployment_id uuid not null references control.deployments on delete cascade,
    step_seconds integer not null,
    at timestamptz not null,
    requests integer not null,
    errors integer not null,
    runs integer not null,
    failed_runs integer not null,
    run_times integer[],
    first_events integer[],
    memory_bytes bigint,
    cpu_ms integer not null,
    sampled_ms integer not null,
    queue_length integer,
    primary key (deployment_id, step_seconds, at)
  );
  create index health_figures_by_age on control.health_figures (step_seconds, at);

  create function control.add_counts(one integer[], other integer[]) returns integer[]
    language sql immutable strict parallel safe as $$
      select array(
        select coalesce(a, 0) + coalesce(b, 0)
        from unnest(one, other) with ordinality as each (a, b, place) order by place
      )
    $$;
  create aggregate control.total_counts(integer[]) (sfunc = control.add_counts, stype = integer[], parallel = safe);
`,
);
