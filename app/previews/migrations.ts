import { type Migration, sqlStep } from '../../src/kit/postgres/migrate.ts';

/** The list of the applied steps of the tables of previews. */
export const previewMigrationTable = 'preview_migrations';

const previews = `
  create table app.preview_pulls (
    repository_id bigint not null,
    number integer not null,
    repository jsonb not null,
    approval jsonb,
    is_unreachable boolean not null default false,
    notified_seq integer not null default 1,
    processed_seq integer not null default 0,
    next_at double precision,
    primary key (repository_id, number)
  );

  create table app.previews (
    repository_id bigint not null,
    number integer not null,
    entry text not null,
    name text not null,
    wanted jsonb not null,
    version integer not null default 1,
    run integer not null default 0,
    known jsonb not null,
    journal jsonb,
    primary key (repository_id, number, entry),
    foreign key (repository_id, number) references app.preview_pulls on delete cascade
  );
  create index previews_of_entry on app.previews (repository_id, entry);
`;

/** The steps of the tables of previews, in the App's schema. */
export const previewMigrations: readonly Migration[] = [sqlStep('001-previews', previews)];
