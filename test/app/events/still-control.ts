import type { Deployment, DeploymentsQuery } from '../../../src/contract/control/deployment.ts';
import type { Revision } from '../../../src/contract/control/revision.ts';
import type { ServiceError } from '../../../src/contract/service-error.ts';
import { notOffered, serviceError } from '../../deploy/machine/control-model.ts';
import { ModelControl } from '../simulation/model-control.ts';
import { ModelGit } from '../simulation/model-git.ts';
import type { Timer } from '../simulation/timer.ts';

/** A revision as `id status commit`. */
export interface StillRevision {
  id: string;
  status: string;
  commit?: string;
  /** ISO 8601 */
  madeAt?: string;
  /** It is held before traffic, or was promoted. */
  hold?: 'open' | 'promoted';
}

/** How a deployment stands: revisions newest first. */
export interface Still {
  name?: string;
  source?: string;
  repoUrl?: string;
  repoRef?: string;
  active?: string;
  revisions?: readonly StillRevision[];
}

/** A control service whose deployments stand still as they were put there. */
export class StillControl extends ModelControl {
  readonly still = new Map<string, Still>();
  readonly failing = new Map<string, ServiceError>();
  listsDeployments = true;
  listsRevisions = true;
  requested = 0;

  constructor(clock: Timer) {
    super(clock, new ModelGit(() => clock.now()), () => 0.5, { idempotencyKeys: true, ifMatch: true, lists: true });
  }

  override async getDeployment(id: string): Promise<Deployment> {
    this.requested += 1;
    const failure = this.failing.get(id);
    if (failure) throw failure;
    return deploymentOf(id, this.#of(id));
  }

  override async getRevision(deploymentId: string, revisionId: string): Promise<Revision> {
    const found = this.#of(deploymentId).revisions?.find(({ id }) => id === revisionId);
    if (!found) throw serviceError('missing', 'get revision', { status: 404 });
    return revisionOf(found);
  }

  override async listRevisions(
    deploymentId: string,
    { limit = 20, offset = 0 }: { limit?: number; offset?: number },
  ): Promise<{ resources: Revision[]; offset: number }> {
    if (!this.listsRevisions) throw notOffered('list revisions');
    const page = (this.#of(deploymentId).revisions ?? []).slice(offset, offset + limit);
    return { resources: page.map(revisionOf), offset };
  }

  override async listDeployments({ limit = 20, offset = 0 }: DeploymentsQuery = {}): Promise<{
    resources: Deployment[];
    offset: number;
  }> {
    if (!this.listsDeployments) throw notOffered('list deployments');
    const all = [...this.still].map(([id, each]) => deploymentOf(id, each));
    return { resources: all.slice(offset, offset + limit), offset };
  }

  #of(id: string): Still {
    const found = this.still.get(id);
    if (!found) throw serviceError('missing', 'get deployment', { status: 404 });
    return found;
  }
}

const revisionOf = ({ id, status, commit, madeAt, hold }: StillRevision): Revision => ({
  id,
  status,
  ...(madeAt ? { created_at: madeAt } : {}),
  ...(hold
    ? {
        hold: {
          address: `https://${id}.test`,
          ends_at: '2026-11-21T09:00:00Z',
          decision: hold === 'open' ? null : hold,
        },
      }
    : {}),
  source_revision_config: { repo_ref: 'main', repo_commit_sha: commit ?? null },
});

const deploymentOf = (id: string, { name = id, source = 'github', ...still }: Still): Deployment => ({
  id,
  name,
  tenant_id: 't',
  source,
  source_config: { repo_url: still.repoUrl ?? 'https://github.test/acme/agents', build_on_push: true },
  source_revision_config: { repo_ref: still.repoRef ?? 'main' },
  secrets: [],
  created_at: '2026-11-20T00:00:00Z',
  updated_at: '2026-11-20T00:00:00Z',
  status: 'READY',
  latest_revision_id: still.revisions?.[0]?.id ?? null,
  active_revision_id: still.active ?? null,
});
