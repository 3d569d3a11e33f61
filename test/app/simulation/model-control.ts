import type { Deployment, DeploymentPatchRequest } from '../../../src/contract/control/deployment.ts';
import type { Revision } from '../../../src/contract/control/revision.ts';
import { classOfRevisionStatus } from '../../../src/contract/control/revision-status.ts';
import type { ChangeOptions, ControlFeatures, ControlService } from '../../../src/contract/control/service.ts';
import { serviceError } from '../../deploy/control-model.ts';
import type { Timer } from './timer.ts';
import type { Fate, ModelGit } from './model-git.ts';
import { type Maker, type ModelRevision, ModelRevisions } from './model-revisions.ts';

/** What a service offers beyond the document. */
export interface Offers {
  idempotencyKeys: boolean;
  ifMatch: boolean;
  /** `GET /v2/deployments/{id}/revisions` */
  lists: boolean;
}

/** A write as it reached the service, whatever its result. */
export interface Written {
  at: number;
  deploymentId: string;
  kind: 'restate' | 'redeploy';
  key: string | undefined;
  revision: ModelRevision | undefined;
  /** The newest and the serving revision at that moment, before anything was made. */
  latest: ModelRevision | undefined;
  active: ModelRevision | undefined;
  latestWasOnItsWay: boolean;
}

const notOffered = (operation: string) => serviceError('missing', operation, { status: 404 });

/** The control service with several deployments in memory: it never fails by itself. */
export class ModelControl implements ControlService {
  readonly deployments = new Map<string, ModelRevisions>();
  readonly written: Written[] = [];
  readonly offers: Offers;
  readonly #clock: Timer;
  readonly #git: ModelGit;
  readonly #random: () => number;
  readonly #answers = new Map<string, { request: string; revisionId: string }>();

  constructor(clock: Timer, git: ModelGit, random: () => number, offers: Offers) {
    this.#clock = clock;
    this.#git = git;
    this.#random = random;
    this.offers = offers;
  }

  /** A deployment of the branch, whose first revision has started. */
  add(id: string, branch: string): ModelRevisions {
    const made = new ModelRevisions(id, branch, this.#clock, this.#git, this.#random);
    this.deployments.set(id, made);
    made.make({ who: 'setup' });
    return made;
  }

  /** Another client restates the ref: a workflow's Action, or the service itself on a push. */
  restateBeside(id: string, who: 'action' | 'service'): ModelRevision {
    return this.#of(id).make({ who });
  }

  /** What becomes of an answer of the deployment, as it serves now. */
  fateOfServing(id: string): Fate | undefined {
    return this.#git.commits.get(this.deployments.get(id)?.active?.commit ?? '')?.fate;
  }

  async getDeployment(id: string): Promise<Deployment> {
    return this.#deploymentResponse(this.#of(id));
  }

  async getRevision(deploymentId: string, revisionId: string): Promise<Revision> {
    const found = this.#of(deploymentId).all.find(({ id }) => id === revisionId);
    if (!found) throw serviceError('missing', 'get revision', { status: 404 });
    return this.#revision(this.#of(deploymentId), found);
  }

  async listRevisions(
    deploymentId: string,
    { limit = 20, offset = 0 }: { limit?: number; offset?: number },
  ): Promise<{ resources: Revision[]; offset: number }> {
    if (!this.offers.lists) throw notOffered('list revisions');
    const held = this.#of(deploymentId);
    const page = held.all.toReversed().slice(offset, offset + limit);
    return { resources: page.map((each) => this.#revision(held, each)), offset };
  }

  async listDeployments(): Promise<{ resources: Deployment[]; offset: number }> {
    return { resources: [...this.deployments.values()].map((each) => this.#deploymentResponse(each)), offset: 0 };
  }

  async patchDeployment(id: string, request: DeploymentPatchRequest, options?: ChangeOptions): Promise<Deployment> {
    const held = this.#of(id);
    if (!request.source_revision_config?.repo_ref) return this.#deploymentResponse(held);
    return this.#write(held, 'restate', JSON.stringify(request), options, (maker) => held.make(maker));
  }

  async redeployRevision(id: string, revisionId: string, options?: ChangeOptions): Promise<Deployment> {
    const held = this.#of(id);
    const old = held.all.find((each) => each.id === revisionId);
    if (!old) throw serviceError('missing', 'redeploy revision', { status: 404 });
    if (old.status !== 'DEPLOYED') throw serviceError('rejected', 'redeploy revision', { status: 400 });
    return this.#write(held, 'redeploy', revisionId, options, (maker) => held.make(maker, old));
  }

  async features(): Promise<ControlFeatures> {
    return { idempotencyKeys: this.offers.idempotencyKeys, verdicts: false };
  }
  async reportVerdict(): Promise<never> {
    throw notOffered('report verdict');
  }

  async getBaseline(): Promise<never> {
    throw notOffered('get baseline');
  }
  async keepBaseline(): Promise<never> {
    throw notOffered('keep baseline');
  }

  async promoteRevision(): Promise<never> {
    throw notOffered('promote revision');
  }
  async discardRevision(): Promise<never> {
    throw notOffered('discard revision');
  }

  createDeployment(): Promise<Deployment> {
    throw new Error('The App creates no deployment');
  }
  async listIntegrations(): Promise<never> {
    throw notOffered('list integrations');
  }
  async listListeners(): Promise<never> {
    throw notOffered('list listeners');
  }
  async listRepositories(): Promise<never> {
    throw notOffered('list repositories');
  }
  async buildLogs(): Promise<{ logs: { message: string }[] }> {
    return { logs: [{ message: 'npm error code E404' }] };
  }
  async deployLogs(): Promise<{ logs: { message: string }[] }> {
    return { logs: [{ message: 'Error: no such module' }] };
  }

  #write(
    held: ModelRevisions,
    kind: Written['kind'],
    request: string,
    options: ChangeOptions | undefined,
    make: (maker: Maker) => ModelRevision,
  ): Deployment {
    const key = options?.idempotencyKey;
    const { latest, active } = held;
    const latestWasOnItsWay = latest !== undefined && classOfRevisionStatus(latest.status) === 'in-progress';
    const note = (revision: ModelRevision | undefined) =>
      this.written.push({
        at: this.#clock.now(),
        deploymentId: held.id,
        kind,
        key,
        revision,
        latest,
        active,
        latestWasOnItsWay,
      });
    if (this.offers.idempotencyKeys && key !== undefined) {
      const known = this.#answers.get(`${held.id} ${key}`);
      if (known && known.request !== `${kind} ${request}`) throw serviceError('rejected', kind, { status: 422 });
      if (known) {
        note(undefined);
        const first = held.all.find(({ id }) => id === known.revisionId);
        return { ...this.#deploymentResponse(held, first), latest_revision_id: known.revisionId };
      }
    }
    if (this.offers.ifMatch && options?.ifLatest !== undefined && options.ifLatest !== (latest?.id ?? null)) {
      note(undefined);
      throw serviceError('conflict', kind, { status: 412 });
    }
    const made = make({ who: 'app', key });
    note(made);
    if (key !== undefined)
      this.#answers.set(`${held.id} ${key}`, { request: `${kind} ${request}`, revisionId: made.id });
    return this.#deploymentResponse(held);
  }

  #of(id: string): ModelRevisions {
    const held = this.deployments.get(id);
    if (!held) throw serviceError('missing', 'get deployment', { status: 404 });
    return held;
  }

  #revision(held: ModelRevisions, { id, status, commit, message, madeAt }: ModelRevision): Revision {
    return {
      id,
      status,
      created_at: new Date(madeAt).toISOString(),
      source: 'github',
      source_revision_config: { repo_ref: held.branch, repo_commit_sha: commit ?? null },
      status_message: message ?? null,
    };
  }

  #deploymentResponse(held: ModelRevisions, latest = held.latest): Deployment {
    const at = new Date(this.#clock.now()).toISOString();
    return {
      id: held.id,
      name: held.id,
      tenant_id: 't',
      source: 'github',
      source_config: { repo_url: 'https://github.test/acme/agent', build_on_push: true },
      source_revision_config: { repo_ref: held.branch, repo_commit_sha: latest?.commit ?? null },
      secrets: [],
      created_at: at,
      updated_at: at,
      status: 'READY',
      latest_revision_id: held.latest?.id ?? null,
      active_revision_id: held.active?.id ?? null,
      url: `https://${held.id}.test`,
    };
  }
}
