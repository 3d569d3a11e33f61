import type { Deployment, DeploymentPatchRequest } from '../../../src/contract/control/deployment.ts';
import type { HoldDecision, Revision } from '../../../src/contract/control/revision.ts';
import { classOfRevisionStatus } from '../../../src/contract/control/revision-status.ts';
import type { ChangeOptions, ControlFeatures, ControlService } from '../../../src/contract/control/service.ts';
import { serviceError } from '../../deploy/machine/control-model.ts';
import type { Timer } from './timer.ts';
import type { Fate, ModelGit } from './model-git.ts';
import { type Maker, type ModelRevision, ModelRevisions } from './model-revisions.ts';

/** What a service offers beyond the document. */
export interface Offers {
  /** Builds the commit that a request names. */
  pinsCommits?: boolean;
  /** Deploys the build of another deployment's revision. */
  copiesBuilds?: boolean;
  idempotencyKeys: boolean;
  ifMatch: boolean;
  /** `GET /v2/deployments/{id}/revisions` */
  lists: boolean;
  /** Holds revisions before traffic. */
  holds?: boolean;
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

const addressOf = ({ id }: ModelRevision): string => `https://held.test/${id}`;

const notOffered = (operation: string) => serviceError('missing', operation, { status: 404 });

/** The control service with several deployments in memory: it never fails by itself. */
export class ModelControl implements ControlService {
  readonly deployments = new Map<string, ModelRevisions>();
  readonly written: Written[] = [];
  /** What tests have at agents. */
  readonly threads = new Set<string>();
  /** Tests that compared what they must not compare. */
  readonly mistaken: string[] = [];
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
    const { buildOf, commit: pinned } = options ?? {};
    const all = [...this.deployments.values()].flatMap((each) => each.all);
    const copied = buildOf === undefined ? undefined : all.find((each) => each.id === buildOf);
    if (buildOf !== undefined && (!this.offers.copiesBuilds || copied?.status !== 'DEPLOYED'))
      throw serviceError('rejected', 'patch deployment', { status: 422 });
    return this.#write(held, 'restate', JSON.stringify([request, buildOf, pinned]), options, (maker) =>
      held.make(maker, undefined, options?.holdSeconds, { pinned, copied }),
    );
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
  async reportVerdict(): Promise<never> {
    throw notOffered('report verdict');
  }

  async getBaseline(): Promise<never> {
    throw notOffered('get baseline');
  }
  async keepBaseline(): Promise<never> {
    throw notOffered('keep baseline');
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
    return this.#revision(held, found);
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

  #revision(held: ModelRevisions, revision: ModelRevision): Revision {
    const { id, status, commit, message, madeAt, hold } = revision;
    const endsAt = hold?.endsAt === undefined ? null : new Date(hold.endsAt).toISOString();
    return {
      id,
      status,
      created_at: new Date(madeAt).toISOString(),
      source: 'github',
      source_revision_config: { repo_ref: held.branch, repo_commit_sha: commit ?? null },
      status_message: message ?? null,
      ...(hold ? { hold: { address: addressOf(revision), ends_at: endsAt, decision: hold.decision ?? null } } : {}),
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
