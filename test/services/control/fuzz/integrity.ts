import { Client } from 'pg';
import * as z from 'zod';
import { sourceConfigRequest, sourceRevisionConfigRequest } from '../../../../src/contract/control/source.ts';
import { deploymentStatus } from '../../../../src/services/control/deployments/status.ts';
import { unfinishedStatuses } from '../../../../src/services/control/revisions/states.ts';

/** What makes data incomplete, each as a query for the ids of affected rows. */
const halves: Readonly<Record<string, string>> = {
  'a deployment without a latest revision': 'select id from control.deployments where latest_revision_id is null',
  'a deployment whose latest revision is not its newest': `
    select d.id from control.deployments d where latest_revision_id is distinct from
      (select id from control.revisions r where r.deployment_id = d.id order by sequence desc limit 1)`,
  'a deployment whose live revision is not a live one of its own': `
    select d.id from control.deployments d join control.revisions r on r.id = d.active_revision_id
      where r.deployment_id <> d.id or r.status <> 'DEPLOYED'`,
  'a deployment without its tracing project': `
    select d.id from control.deployments d where not exists
      (select from control.tracing_projects p where p.deployment_id = d.id and p.name = d.name and p.tenant_id = d.tenant_id)`,
  'a deployment without an audit record': `
    select d.id from control.deployments d where not exists
      (select from control.audit a where a.operation = 'create deployment' and a.subject ->> 'deployment_id' = d.id::text)`,
  'a revision of another source than its deployment': `
    select r.id from control.revisions r join control.deployments d on d.id = r.deployment_id where r.source <> d.source`,
  'a revision whose last event is not its status': `
    select r.id from control.revisions r where r.status is distinct from
      (select e.status from control.revision_events e where e.revision_id = r.id order by e.id desc limit 1)`,
  'a revision on its way in a deployment that is being deleted': `
    select r.id from control.revisions r join control.deployments d on d.id = r.deployment_id
      where d.deletion <> 'none' and r.status = any ($1)`,
  'a write that was started and not completed': 'select key as id from control.write_keys where not done',
};

const deploymentRow = z.object({
  id: z.string(),
  status: z.string(),
  database: z.enum(['absent', 'ready', 'unreachable']),
  deletion: z.enum(['none', 'asked', 'stopped']),
  on_its_way: z.boolean(),
  source_config: sourceConfigRequest,
  source_revision_config: sourceRevisionConfigRequest,
});

/** Describes all incomplete data in the database. */
export async function halfMade(databaseUrl: string): Promise<string[]> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const found: string[] = [];
    for (const [what, query] of Object.entries(halves)) {
      const { rows } = await client.query<{ id: string }>(query, query.includes('$1') ? [unfinishedStatuses] : []);
      found.push(...rows.map(({ id }) => `${what}: ${id}`));
    }
    const { rows } = await client.query(
      `select id, status, database_state as database, deletion, source_config, source_revision_config,
         exists (select from control.revisions r where r.deployment_id = d.id and r.status = any ($1)) as on_its_way
       from control.deployments d`,
      [unfinishedStatuses],
    );
    for (const row of z.array(deploymentRow).parse(rows)) {
      const { id, status, database, deletion, on_its_way: revisionOnItsWay } = row;
      const right = deploymentStatus({ database, revisionOnItsWay, deletion });
      if (status !== right) found.push(`a deployment that is ${status} and should be ${right}: ${id}`);
    }
    return found;
  } finally {
    await client.end();
  }
}
