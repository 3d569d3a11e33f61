import { deployment as deploymentSchema, type Deployment } from '../../../src/contract/control/deployment.ts';
import { revision as revisionSchema, type Revision } from '../../../src/contract/control/revision.ts';

/** When everything was made. */
const moment = '2026-02-01T00:00:00Z';

/** A deployment as the service has it: its revisions, newest first, of which the first serves. */
export function deploymentOf(
  name: string,
  ids: readonly string[],
  over: object = {},
): { deployment: Deployment; revisions: Revision[] } {
  const [latest = null] = ids;
  const deployment = deploymentSchema.parse({
    id: `d-${name}`,
    name,
    tenant_id: 'a tenant',
    source: 'github',
    source_config: { repo_url: 'https://github.test/acme/agents', deployment_type: 'dev' },
    source_revision_config: { repo_ref: 'main' },
    secrets: [],
    created_at: moment,
    updated_at: moment,
    status: 'READY',
    latest_revision_id: latest,
    active_revision_id: latest,
    ...over,
  });
  return { deployment, revisions: ids.map((id) => revisionOf(id)) };
}

/** A revision that was deployed. */
export const revisionOf = (id: string, over: object = {}): Revision =>
  revisionSchema.parse({
    id,
    status: 'DEPLOYED',
    source_revision_config: { repo_commit_sha: 'c'.repeat(40) },
    created_at: moment,
    updated_at: moment,
    ...over,
  });
