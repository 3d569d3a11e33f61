import type { Clock } from '../../../src/kit/clock.ts';
import type {
  DeploymentCreateRequest,
  DeploymentPatchRequest,
  DeploymentsQuery,
} from '../../../src/contract/control/deployment.ts';
import type { ChangeOptions, ControlService, WriteOptions } from '../../../src/contract/control/service.ts';
import type { CallOptions } from '../../../src/contract/call-options.ts';
import type { UploadAndDeleteService } from '../../../src/deploy/machine/deploy-run.ts';
import { ControlModel, ends, goesLive, serviceError } from '../../deploy/machine/control-model.ts';

/** A deployment of the model, from its creation to its end (ms since the epoch). */
export interface Life {
  id: string;
  name: string;
  secrets: readonly { name: string; value: string }[];
  createdAt: number;
  goneAt: number;
  /** The repositories and commits that were built, oldest first. */
  built: { repoUrl: string; commit: string; at: number }[];
}

/** What a revision is built from. */
interface Source {
  source_config: { repo_url?: string | null | undefined };
  source_revision_config: { repo_ref?: string | null | undefined };
}

/** A control service in memory with any number of deployments, each of which behaves as `ControlModel` does. */
export class ModelService implements ControlService, UploadAndDeleteService {
  readonly lives: Life[] = [];
  /** The head of a branch of a repository now; undefined: its build fails. */
  headOf: (repoUrl: string, repoRef: string) => string | undefined = () => undefined;
  readonly #clock: Clock;
  readonly #honoursKeys: boolean;
  readonly #pinsCommits: boolean;
  readonly #deletionMs: number;
  readonly #models = new Map<string, ControlModel>();
  readonly #answers = new Map<string, string>();

  constructor(clock: Clock, { honoursKeys = false, pinsCommits = false, deletionMs = 12_000 } = {}) {
    this.#clock = clock;
    this.#honoursKeys = honoursKeys;
    this.#pinsCommits = pinsCommits;
    this.#deletionMs = deletionMs;
  }

  /** What is there now. */
  get alive(): Life[] {
    return this.lives.filter(({ goneAt }) => goneAt > this.#clock.now());
  }

  async createDeployment(request: DeploymentCreateRequest, options: WriteOptions = {}) {
    const known = this.#honoursKeys && options.idempotencyKey ? this.#answers.get(options.idempotencyKey) : undefined;
    if (known !== undefined) return this.getDeployment(known);
    if (this.alive.some(({ name }) => name === request.name)) {
      throw serviceError('conflict', 'create deployment', { status: 409 });
    }
    const id = `d${this.lives.length + 1}`;
    const model = new ControlModel(this.#clock);
    model.deletionMs = this.#deletionMs;
    model.honoursKeys = this.#honoursKeys;
    const { name, secrets } = request;
    const life: Life = { id, name, secrets, createdAt: this.#clock.now(), goneAt: Infinity, built: [] };
    this.#build(model, life, request, options.commit);
    await model.createDeployment(request, options);
    const { deployment } = model.service;
    if (deployment) model.service.deployment = { ...deployment, id };
    this.#models.set(id, model);
    this.lives.push(life);
    if (options.idempotencyKey) this.#answers.set(options.idempotencyKey, id);
    return this.getDeployment(id);
  }

  async patchDeployment(id: string, request: DeploymentPatchRequest, options?: ChangeOptions) {
    const model = this.#model(id);
    const { deployment } = model.service;
    const life = this.lives.find((each) => each.id === id);
    if (!deployment || !life) throw serviceError('missing', 'patch deployment', { status: 404 });
    const before = model.service.revisions.length;
    this.#build(
      model,
      life,
      {
        source_config: { repo_url: request.source_config?.repo_url ?? deployment.source_config.repo_url },
        source_revision_config: {
          repo_ref: request.source_revision_config?.repo_ref ?? deployment.source_revision_config.repo_ref,
        },
      },
      options?.commit,
    );
    const patched = await model.patchDeployment(id, request, options);
    if (model.service.revisions.length === before) life.built.pop();
    if (request.secrets) life.secrets = request.secrets;
    return patched;
  }

  #build(
    model: ControlModel,
    life: Life,
    { source_config: source, source_revision_config: revision }: Source,
    pinned: string | undefined,
  ): void {
    const repoUrl = source.repo_url ?? '';
    const commit = (this.#pinsCommits ? pinned : undefined) ?? this.headOf(repoUrl, revision.repo_ref ?? '');
    model.scripts = [commit === undefined ? ends('BUILD_FAILED') : goesLive(commit)];
    life.built.push({ repoUrl, commit: commit ?? '', at: this.#clock.now() });
  }

  async getDeployment(id: string, options?: CallOptions) {
    return this.#model(id).getDeployment(id, options);
  }

  async listDeployments(query: DeploymentsQuery) {
    const found = await Promise.all(this.alive.map(({ id }) => this.getDeployment(id)));
    const named = found.filter(({ name }) => name.includes(query.name_contains ?? ''));
    const { offset = 0, limit = 20 } = query;
    return { resources: named.slice(offset, offset + limit), offset };
  }

  async deleteDeployment(id: string, query: { deleteTracingProject: boolean }): Promise<void> {
    await this.#model(id).deleteDeployment(id, query);
    const life = this.lives.find((each) => each.id === id);
    if (life) life.goneAt = Math.min(life.goneAt, this.#clock.now() + this.#deletionMs);
  }

  #model(id: string): ControlModel {
    const model = this.#models.get(id);
    if (!model) throw serviceError('missing', 'get deployment', { status: 404 });
    return model;
  }

  features = async () => ({ idempotencyKeys: this.#honoursKeys, pinsCommits: this.#pinsCommits, verdicts: false });
  getRevision: ControlService['getRevision'] = async (id, ...rest) => this.#model(id).getRevision(id, ...rest);
  listRevisions: ControlService['listRevisions'] = async (id, ...rest) => this.#model(id).listRevisions(id, ...rest);
  redeployRevision: ControlService['redeployRevision'] = async (id, ...rest) =>
    this.#model(id).redeployRevision(id, ...rest);
  buildLogs: ControlService['buildLogs'] = async (id, ...rest) => this.#model(id).buildLogs(id, ...rest);
  deployLogs: ControlService['deployLogs'] = async (id, ...rest) => this.#model(id).deployLogs(id, ...rest);
  interruptRevision: UploadAndDeleteService['interruptRevision'] = async (id, ...rest) =>
    this.#model(id).interruptRevision(id, ...rest);
  listIntegrations: ControlService['listIntegrations'] = async () => [];
  listRepositories: ControlService['listRepositories'] = async () => [];
  listListeners: ControlService['listListeners'] = async () => ({ resources: [], offset: 0 });
  reportVerdict = notThere;
  getBaseline = notThere;
  keepBaseline = notThere;
  promoteRevision = notThere;
  discardRevision = notThere;
  requestUpload = notThere;
  putTarball = notThere;
}

async function notThere(): Promise<never> {
  throw serviceError('missing', 'operation', { status: 404 });
}
