import { loggerTo } from '../test/logger.ts';
import { systemClock } from '../src/kit/clock.ts';
import { controlMigrations, controlSchema } from '../src/services/control/store/migrations.ts';
import { createStore } from '../src/services/control/store/store.ts';
import type { ControlTables } from '../src/services/control/store/tables.ts';
import { openDatabase } from '../src/kit/postgres/database.ts';
import { migrate } from '../src/kit/postgres/migrate.ts';

/**
 * Fills a fresh database: the store creates one deployment, which is copied with its revision as often as requested, so
 * that every column holds what the service writes. The revisions are live, or were.
 */
export async function seedControl(
  url: string,
  { deployments, revisionsEach }: { deployments: number; revisionsEach: number },
): Promise<void> {
  const database = openDatabase<ControlTables>({ url, max: 1, log: loggerTo((message) => console.error(message)) });
  try {
    await migrate(database.db, controlMigrations, { schema: controlSchema });
    const store = createStore(database.db, systemClock);
    const tenantId = await store.addTenant('bench');
    const made = await store.createDeployment(tenantId, {
      name: 'agent-0',
      source: 'github',
      source_config: { repo_url: 'https://example.com/acme/agent', build_on_push: true },
      source_revision_config: { repo_ref: 'main', graph_config_path: 'langgraph.json' },
      secrets: [{ name: 'MODEL_KEY', value: 'a value of forty characters, as keys have' }],
      secret_references: null,
    });
    if (made.kind !== 'created') throw new Error(`the first deployment was not made: ${made.kind}`);
    const written = async (table: string): Promise<string> => {
      const { rows } = await database.pool.query<{ names: string }>(
        `select string_agg(quote_ident(column_name), ', ') as names from information_schema.columns
           where table_schema = $1 and table_name = $2 and is_generated = 'NEVER'`,
        [controlSchema, table],
      );
      return rows[0]?.names ?? '';
    };
    const columns = { deployments: await written('deployments'), revisions: await written('revisions') };
    for (const statement of copies({ deployments, revisionsEach, columns })) await database.pool.query(statement);
  } finally {
    await database.close();
  }
}

interface Copies {
  deployments: number;
  revisionsEach: number;
  /** The columns that a statement may write, which generated ones are not. */
  columns: { deployments: string; revisions: string };
}

const copies = ({ deployments, revisionsEach, columns }: Copies): string[] => [
  `update control.revisions set status = 'DEPLOYED', repo_commit_sha = repeat('c', 40)`,
  `create temporary table copies as
     select gen_random_uuid() as id, number from generate_series(1, ${deployments - 1}) as number`,
  `begin`,
  `insert into control.deployments (${columns.deployments})
     select ${columns.deployments} from (select (jsonb_populate_record(model, jsonb_build_object('id', copies.id, 'name', 'agent-' || number,
       'database_name', model.database_name || number,
       'created_at', model.created_at + number * interval '1 second', 'latest_revision_id', null))).*
     from control.deployments as model, copies)`,
  `insert into control.revisions (${columns.revisions}) overriding system value
     select ${columns.revisions} from (select (jsonb_populate_record(model, jsonb_build_object('id', gen_random_uuid(), 'deployment_id', deployments.id,
       'sequence', row_number() over (order by round, deployments.id) + 1))).*
     from control.revisions as model, control.deployments as deployments, generate_series(1, ${revisionsEach}) as round
     where deployments.id <> model.deployment_id or round < ${revisionsEach})`,
  `update control.deployments as deployment set
     (latest_revision_id, active_revision_id) =
       (select id, id from control.revisions where deployment_id = deployment.id order by sequence desc limit 1)`,
  `commit`,
  `select setval(pg_get_serial_sequence('control.revisions', 'sequence'), (select max(sequence) from control.revisions))`,
  `vacuum analyze`,
];
