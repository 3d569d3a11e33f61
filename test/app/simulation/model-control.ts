import type {
  Deployment,
  DeploymentCreateRequest,
  DeploymentPatchRequest,
  DeploymentsQuery,
} from '../../../src/contract/control/deployment.ts';
import type { HoldDecision, Revision } from '../../../src/contract/control/revision.ts';
import { classOfRevisionStatus } from '../../../src/contract/control/revision-status.ts';
import type {
  ChangeOptions,
  ControlFeatures,
  ControlService,
  WriteOptions,
} from '../../../src/contract/control/service.ts';
import type { UploadAndDeleteService } from '../../../src/deploy/machine/deploy-run.ts';
import { notOffered, serviceError } from '../../deploy/machine/control-model.ts';
import type { Offers } from './offers.ts';
import type { Timer } from './timer.ts';
import { addressOf, ModelDeployment } from './model-deployment.ts';
import { ownUrl, type Fate, type ModelGit } from './model-git.ts';
import type { Maker, ModelRevision } from './model-revisions.ts';

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

/** How long a deletion takes (ms). */
const deletionMs = 12_000;

async function lacks(): Promise<never> {
  throw notOffered('operation');
}

/** The control service with any number of deployments in memory: it never fails by itself. */
export class ModelControl implements ControlService, UploadAndDeleteService {
  /** Those that were deleted among them. */
  readonly deployments = new Map<string, ModelDeployment>();
  readonly written: Written[] = [];
  /** What tests have at agents. */
  readonly threads = new Set<string>();
  /** Tests that compared what they must not compare. */
  readonly mistaken: string[] = [];
  readonly offers: Offers;
  readonly #clock: Timer;
  readonly #git: ModelGit;
  readonly #random: () => number;
  readonly #answers = new Map<string, { deploymentId: string; request: string; revisionId: string }>();

  constructor(clock: Timer, git: ModelGit, random: () => number, offers: Offers) {
    this.#clock = clock;
    this.#git = git;
    this.#random = random;
    this.offers = offers;
  }

  /** A deployment of the branch that pushes build, whose first revision has started. */
  add(id: string, branch: string): ModelDeployment {
    return this.put(id, {
      name: id.slice(0, 2),
      source: 'github',
      source_config: { repo_url: ownUrl, build_on_push: true },
      source_revision_config: { repo_ref: branch },
      secrets: [{ name: 'PRODUCTION_KEY', value: 'production-value' }],
    });
  }

  /** A deployment that is not the App's, whose first revision has started. */
  put(
    id: string,
    request: DeploymentCreateRequest,
    madeBy: Maker = { who: 'setup' },
    pinned?: string,
  ): ModelDeployment {
    const made = new ModelDeployment(id, request, this.#clock, this.#git, this.#random);
    this.deployments.set(id, made);
    made.make(madeBy, undefined, undefined, { pinned });
    return made;
  }

  /** What is there now. */
  get alive(): ModelDeployment[] {
    return [...this.deployments.values()].filter(({ goneAt }) => goneAt > this.#clock.now());
  }

  /** Another client restates the ref: a workflow's Action, which decides about its hold, or the service on a push. */
  restateBeside(id: string, who: 'action' | 'service'): ModelRevision {
    const held = this.#of(id);
    if (who === 'service' || !this.offers.holds) return held.make({ who });
    const made = held.make({ who }, undefined, 600);
    // One that is cancelled never decides.
    const decides = (): void => {
      if (held.held === made) held.decide(made, this.#random() < 0.7 ? 'promoted' : 'discarded', 'action');
    };
    this.#clock.after(60_000 + this.#random() * 200_000, decides);
    return made;
  }

  /** A person promotes or discards what is held, now or within some minutes. */
  decideByHand(id: string, decision: HoldDecision, looks = 300): void {
    const held = this.#of(id);
    if (held.held) held.decide(held.held, decision, 'person');
    else if (looks > 0) this.#clock.after(1_000, () => this.decideByHand(id, decision, looks - 1));
  }

  /** What becomes of an answer of the deployment, as it serves now, or at the address of a held revision. */
  fateOf(id: string, heldAt?: string): Fate | undefined {
    const held = this.deployments.get(id);
    const tested = heldAt === undefined ? held?.active : held?.held;
    if (heldAt !== undefined && tested && heldAt !== addressOf(tested)) return undefined;
    return this.#git.commits.get(tested?.commit ?? '')?.fate;
  }

  serving(id: string): string | undefined {
    return this.deployments.get(id)?.active?.id;
  }

  openThread(id: string): void {
    this.threads.add(id);
  }
  closeThread(id: string): void {
    this.threads.delete(id);
  }
  mistook(what: string): void {
    this.mistaken.push(what);
  }

  async getDeployment(id: string): Promise<Deployment> {
    return this.#of(id).response();
  }

  async getRevision(deploymentId: string, revisionId: string): Promise<Revision> {
    const found = this.#of(deploymentId).all.find(({ id }) => id === revisionId);
    if (!found) throw serviceError('missing', 'get revision', { status: 404 });
    return this.#of(deploymentId).revisionResponse(found);
  }

  async listRevisions(
    deploymentId: string,
    { limit = 20, offset = 0 }: { limit?: number; offset?: number },
  ): Promise<{ resources: Revision[]; offset: number }> {
    if (!this.offers.lists) throw notOffered('list revisions');
    const held = this.#of(deploymentId);
    const page = held.all.toReversed().slice(offset, offset + limit);
    return { resources: page.map((each) => held.revisionResponse(each)), offset };
  }

  async listDeployments({ limit = 20, offset = 0, name_contains: part = '' }: DeploymentsQuery = {}): Promise<{
    resources: Deployment[];
    offset: number;
  }> {
    const named = this.alive.filter(({ name }) => name.includes(part));
    return { resources: named.slice(offset, offset + limit).map((each) => each.response()), offset };
  }

  async createDeployment(request: DeploymentCreateRequest, options: WriteOptions = {}): Promise<Deployment> {
    const { idempotencyKey: key, commit } = options;
    const known = this.offers.idempotencyKeys && key !== undefined ? this.#answers.get(key) : undefined;
    if (known) return this.getDeployment(known.deploymentId);
    if (this.alive.some(({ name }) => name === request.name))
      throw serviceError('conflict', 'create deployment', { status: 409 });
    const id = `c${(this.deployments.size + 1).toString(16).padStart(7, '0')}-0000-4000-8000-000000000000`;
    const made = this.put(id, request, { who: 'app', key }, this.#pinned(commit));
    if (key !== undefined) this.#answers.set(key, { deploymentId: id, request: 'create', revisionId: '' });
    return made.response();
  }

  async deleteDeployment(id: string): Promise<void> {
    this.#of(id).leave(deletionMs);
  }

  async interruptRevision(): Promise<void> {
    return undefined;
  }

  async patchDeployment(id: string, request: DeploymentPatchRequest, options?: ChangeOptions): Promise<Deployment> {
    const held = this.#of(id);
    if (!request.source_revision_config && !request.source_config && !request.secrets) return held.response();
    const { buildOf, commit: pinned } = options ?? {};
    const all = [...this.deployments.values()].flatMap((each) => each.all);
    const copied = buildOf === undefined ? undefined : all.find((each) => each.id === buildOf);
    if (buildOf !== undefined && (!this.offers.copiesBuilds || copied?.status !== 'DEPLOYED'))
      throw serviceError('rejected', 'patch deployment', { status: 422 });
    return this.#write(held, 'restate', JSON.stringify([request, buildOf, pinned]), options, (maker) => {
      held.patch(request);
      return held.make(maker, undefined, options?.holdSeconds, { pinned: this.#pinned(pinned), copied });
    });
  }

  async redeployRevision(id: string, revisionId: string, options?: ChangeOptions): Promise<Deployment> {
    const held = this.#of(id);
    const old = held.all.find((each) => each.id === revisionId);
    if (!old) throw serviceError('missing', 'redeploy revision', { status: 404 });
    if (old.status !== 'DEPLOYED') throw serviceError('rejected', 'redeploy revision', { status: 400 });
    return this.#write(held, 'redeploy', revisionId, options, (maker) => held.make(maker, old));
  }

  async features(): Promise<ControlFeatures> {
    const { idempotencyKeys, holds, pinsCommits, copiesBuilds } = this.offers;
    return { idempotencyKeys, verdicts: false, holds, pinsCommits, copiesBuilds };
  }

  async promoteRevision(id: string, revisionId: string): Promise<Revision> {
    return this.#decide(id, revisionId, 'promoted');
  }
  async discardRevision(id: string, revisionId: string): Promise<Revision> {
    return this.#decide(id, revisionId, 'discarded');
  }

  #decide(id: string, revisionId: string, decision: HoldDecision): Revision {
    const held = this.#of(id);
    const found = held.all.find((each) => each.id === revisionId);
    if (!found) throw serviceError('missing', 'decide', { status: 404 });
    if (found.hold?.decision === decision) found.hold.repeated += 1;
    else if (held.held !== found) throw serviceError('conflict', 'decide', { status: 409 });
    else held.decide(found, decision, 'app');
    return held.revisionResponse(found);
  }

  listIntegrations = lacks;
  listListeners = lacks;
  listRepositories = lacks;
  requestUpload = lacks;
  putTarball = lacks;
  reportVerdict = lacks;
  getBaseline = lacks;
  keepBaseline = lacks;

  async buildLogs(): Promise<{ logs: { message: string }[] }> {
    return { logs: [{ message: 'npm error code E404' }] };
  }
  async deployLogs(): Promise<{ logs: { message: string }[] }> {
    return { logs: [{ message: 'Error: no such module' }] };
  }

  #write(
    held: ModelDeployment,
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
        return { ...held.response(first), latest_revision_id: known.revisionId };
      }
    }
    if (this.offers.ifMatch && options?.ifLatest !== undefined && options.ifLatest !== (latest?.id ?? null)) {
      note(undefined);
      throw serviceError('conflict', kind, { status: 412 });
    }
    const made = make({ who: 'app', key });
    note(made);
    if (key !== undefined)
      this.#answers.set(`${held.id} ${key}`, {
        deploymentId: held.id,
        request: `${kind} ${request}`,
        revisionId: made.id,
      });
    return held.response();
  }

  #pinned(commit: string | undefined): string | undefined {
    return this.offers.pinsCommits ? commit : undefined;
  }

  #of(id: string): ModelDeployment {
    const held = this.deployments.get(id);
    if (!held || held.goneAt <= this.#clock.now()) throw serviceError('missing', 'get deployment', { status: 404 });
    return held;
  }
}
