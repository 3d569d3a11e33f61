import type { Clock } from '../../../src/kit/clock.ts';
import type { CallOptions } from '../../../src/contract/call-options.ts';
import type {
  Deployment,
  DeploymentCreateRequest,
  DeploymentPatchRequest,
  DeploymentsList,
  DeploymentsQuery,
} from '../../../src/contract/control/deployment.ts';
import type { GithubIntegration, GithubRepository } from '../../../src/contract/control/integration.ts';
import type { Listener, ListenersList } from '../../../src/contract/control/listener.ts';
import type { LogEntry, LogPage } from '../../../src/contract/control/log.ts';
import type {
  HoldDecision,
  HoldDecisionRequest,
  Revision,
  RevisionsList,
  RevisionsQuery,
} from '../../../src/contract/control/revision.ts';
import type { BaselineRequest, StoredBaseline } from '../../../src/contract/control/baseline.ts';
import type { VerdictReport } from '../../../src/contract/control/verdict.ts';
import type {
  ChangeOptions,
  ControlFeatures,
  ControlService,
  ReportOptions,
  WriteOptions,
} from '../../../src/contract/control/service.ts';
import type { PutResult, UploadTarget } from '../../../src/contract/control/upload.ts';
import type { Tarball } from '../../../src/kit/archive/tarball.ts';
import type { UploadAndDeleteService } from '../../../src/deploy/machine/deploy-run.ts';
import { ServiceError, type ServiceErrorKind } from '../../../src/contract/service-error.ts';
import { ModelHolds } from './model-holds.ts';
import { ServiceModel } from '../rules/service-model.ts';

/** What a revision reports from `after` ms on. A DEPLOYED one serves from then on, unless the switch lags. */
export interface Step {
  after: number;
  status: string;
  commit?: string;
  message?: string;
  buildWarnings?: string[];
  lags?: boolean;
}

export const goesLive = (commit?: string): Step[] => [
  { after: 0, status: 'QUEUED' },
  { after: 8_000, status: 'BUILDING', ...(commit ? { commit } : {}) },
  { after: 30_000, status: 'DEPLOYED', ...(commit ? { commit } : {}) },
];
export const ends = (status: string, commit?: string, message?: string): Step[] => [
  { after: 0, status: 'BUILDING', ...(commit ? { commit } : {}) },
  { after: 20_000, status, ...(commit ? { commit } : {}), ...(message ? { message } : {}) },
];

export function serviceError(
  kind: ServiceErrorKind,
  operation: string,
  more: { status?: number; effect?: 'none' | 'unknown'; detail?: string; retryAfterMs?: number } = {},
): ServiceError {
  return new ServiceError({
    kind,
    operation,
    method: 'GET',
    address: 'https://control.test/v2',
    effect: 'none',
    ...more,
  });
}

export const notOffered = (operation: string) => serviceError('missing', operation, { status: 404 });

interface Fault {
  operation: string;
  error: ServiceError;
  times: number;
  /** The request takes effect, and only its response is lost. */
  applied: boolean;
}

type Answers =
  | 'verdicts'
  | 'baselines'
  | 'holds'
  | 'lists'
  | 'revisions'
  | 'redeploy'
  | 'logs'
  | 'integrations'
  | 'repositories'
  | 'listeners'
  | 'uploads'
  | 'deletion';

/** An in-memory control service with one deployment, whose revisions follow a script, and whose faults are injected. */
export class ControlModel implements ControlService, UploadAndDeleteService {
  readonly calls: string[] = [];
  readonly sent: (DeploymentCreateRequest | DeploymentPatchRequest)[] = [];
  readonly service: ServiceModel;
  readonly lacks = new Set<Answers>(['verdicts', 'baselines', 'holds']);
  /** Refuses to hold a revision of an image, as our service does. */
  holdsImages = true;
  consoleUrl: string | undefined;
  /** The reported verdicts. */
  readonly verdicts: { revisionId: string; report: VerdictReport; key: string | undefined }[] = [];
  /** What is kept, by revision and test. */
  readonly baselines = new Map<string, StoredBaseline>();
  integrations: GithubIntegration[] = [];
  repositories = new Map<string, GithubRepository[]>();
  listeners: Listener[] = [];
  others: Deployment[] = [];
  buildLines: LogEntry[] = [];
  /** Whether a list includes the secrets of each deployment. */
  listsSecrets = true;
  /** Rejects a change that is based on an older revision than the latest; not every service does. */
  heedsIfLatest = false;
  /** Answers a write with a known idempotency key as it did the first time. */
  honoursKeys = false;
  /** Builds the commit that a change names. */
  pinsCommits = false;
  /** Scales idle agents to zero. */
  scalesToZero = false;
  /** The times until then that changes named. */
  idleAfter: ChangeOptions['idleAfter'][] = [];
  /** The commits that changes named. */
  readonly pinned: (string | undefined)[] = [];
  readonly #answers = new Map<string, string | null>();
  /** The revision that the service no longer returns. */
  forgotten: string | undefined;
  /** How long a deletion takes (ms). */
  deletionMs = 12_000;
  /** The deletions, each with whether it included the tracing project. */
  readonly deleted: { id: string; deleteTracingProject: boolean }[] = [];
  #goneAt: number | undefined;
  /** The scripts of the next revisions, in order. */
  scripts: Step[][] = [];
  /** Called when a write has been applied. */
  onWrite: () => void = () => undefined;
  readonly #clock: Clock;
  readonly #faults: Fault[] = [];
  readonly #made = new Map<string, { at: number; script: Step[]; served: boolean }>();
  readonly #holds = new ModelHolds();

  constructor(clock: Clock, service = new ServiceModel()) {
    this.#clock = clock;
    this.service = service;
  }

  /** The next calls of this operation fail. */
  fails(operation: string, error: ServiceError, { times = 1, applied = false } = {}): this {
    this.#faults.push({ operation, error, times, applied });
    return this;
  }

  count(operation: string): number {
    return this.calls.filter((each) => each === operation).length;
  }

  /** An existing deployment with one live revision for each commit or image; the last one serves. */
  has(request: DeploymentCreateRequest, ...scripts: Step[][]): this {
    this.scripts.push(...scripts.slice(0, 1));
    this.service.create(request);
    this.#begin();
    for (const script of scripts.slice(1)) {
      this.scripts.push(script);
      const { source_revision_config: config } = request;
      this.service.patch({
        source_revision_config: config.repo_ref ? { repo_ref: config.repo_ref } : { image_uri: config.image_uri },
      });
      this.#begin();
    }
    return this;
  }

  async createDeployment(request: DeploymentCreateRequest, options?: WriteOptions): Promise<Deployment> {
    return this.#written('create', options, () => {
      this.#mayHold(options, request.source);
      this.sent.push(request);
      this.pinned.push(options?.commit);
      if (options?.idleAfter !== undefined) this.idleAfter.push(options.idleAfter);
      this.service.create(request);
      this.#begin(options?.holdSeconds);
      this.onWrite();
      return this.#deployment();
    });
  }

  async getDeployment(id: string, options?: CallOptions): Promise<Deployment> {
    return this.#called('get', options, () => {
      const other = this.others.find((each) => each.id === id);
      if (other) return other;
      this.#advance();
      if (this.service.deployment?.id !== id) throw serviceError('missing', 'get deployment', { status: 404 });
      return this.#deployment();
    });
  }

  async patchDeployment(_id: string, request: DeploymentPatchRequest, options?: ChangeOptions): Promise<Deployment> {
    return this.#written('patch', options, () => {
      this.#isBasedOnLatest('patch deployment', options);
      this.#mayHold(options, this.service.deployment?.source);
      this.sent.push(request);
      this.pinned.push(options?.commit);
      if (options?.idleAfter !== undefined) this.idleAfter.push(options.idleAfter);
      this.service.patch(request);
      this.#begin(options?.holdSeconds);
      this.onWrite();
      return this.#deployment();
    });
  }

  async getRevision(_deploymentId: string, revisionId: string, options?: CallOptions): Promise<Revision> {
    return this.#called('revision', options, () => {
      this.#advance();
      const found = revisionId === this.forgotten ? undefined : this.service.revision(revisionId);
      if (!found) throw serviceError('missing', 'get revision', { status: 404 });
      return structuredClone(found);
    });
  }

  async listDeployments(query: DeploymentsQuery, options?: CallOptions): Promise<DeploymentsList> {
    return this.#called('list', options, () => {
      this.#offers('lists');
      this.#advance();
      const all = [...this.others, ...(this.service.deployment ? [this.#deployment()] : [])];
      const named = all.filter(({ name }) => name.includes(query.name_contains ?? ''));
      const { offset = 0, limit = 20 } = query;
      const page = named.slice(offset, offset + limit);
      return { resources: this.listsSecrets ? page : page.map((each) => ({ ...each, secrets: null })), offset };
    });
  }

  async listRevisions(_id: string, query: RevisionsQuery, options?: CallOptions): Promise<RevisionsList> {
    return this.#called('revisions', options, () => {
      this.#offers('revisions');
      this.#advance();
      const { offset = 0, limit = 20 } = query;
      return { resources: structuredClone(this.service.revisions.slice(offset, offset + limit)), offset };
    });
  }

  async features(options?: CallOptions): Promise<ControlFeatures> {
    return this.#called('features', options, () => ({
      idempotencyKeys: this.honoursKeys,
      verdicts: !this.lacks.has('verdicts'),
      baselines: !this.lacks.has('baselines'),
      holds: !this.lacks.has('holds'),
      pinsCommits: this.pinsCommits,
      scalesToZero: this.scalesToZero,
      consoleUrl: this.consoleUrl,
    }));
  }

  async reportVerdict(_id: string, revisionId: string, report: VerdictReport, options?: ReportOptions): Promise<void> {
    return this.#called('report verdict', options, () => {
      if (this.verdicts.some(({ key }) => key === options?.idempotencyKey)) return;
      this.verdicts.push({ revisionId, report, key: options?.idempotencyKey });
    });
  }

  async getBaseline(_id: string, revisionId: string, hash: string, options?: CallOptions): Promise<StoredBaseline> {
    return this.#called('get baseline', options, () => {
      const kept = this.baselines.get(`${revisionId} ${hash}`);
      if (!kept) throw serviceError('missing', 'get baseline', { status: 404 });
      return structuredClone(kept);
    });
  }

  async keepBaseline(
    _id: string,
    revisionId: string,
    hash: string,
    { answers }: BaselineRequest,
    options?: CallOptions,
  ): Promise<void> {
    return this.#called('keep baseline', options, () => {
      const taken_at = new Date(this.#clock.now()).toISOString();
      this.baselines.set(`${revisionId} ${hash}`, { revision_id: revisionId, test_hash: hash, taken_at, answers });
    });
  }

  async promoteRevision(_id: string, revisionId: string, request?: HoldDecisionRequest, options?: CallOptions) {
    return this.#called('promote', options, () => this.#decide(revisionId, 'promoted', request));
  }

  async discardRevision(_id: string, revisionId: string, request?: HoldDecisionRequest, options?: CallOptions) {
    return this.#called('discard', options, () => this.#decide(revisionId, 'discarded', request));
  }

  #decide(revisionId: string, decision: HoldDecision, request: HoldDecisionRequest | undefined): Revision {
    this.#advance();
    const found = this.service.revision(revisionId);
    if (!found) throw serviceError('missing', 'decide', { status: 404 });
    this.#holds.decide(found, decision, request?.why ?? undefined);
    this.#advance();
    this.onWrite();
    return structuredClone(found);
  }

  #isBasedOnLatest(operation: string, options: ChangeOptions | undefined): void {
    const latest = this.service.deployment?.latest_revision_id;
    if (!this.heedsIfLatest || options?.ifLatest === undefined || options.ifLatest === latest) return;
    throw serviceError('conflict', operation, { status: 412 });
  }

  #mayHold(options: WriteOptions | undefined, source: string | undefined): void {
    if (options?.holdSeconds === undefined) return;
    if (this.lacks.has('holds')) throw new Error('a hold was requested of a service without holds');
    if (this.holdsImages || source !== 'external_docker') return;
    throw serviceError('rejected', 'write', {
      status: 400,
      detail:
        'A revision of an image can not be held. Send the change without Landfall-Hold: its revision is then live at once.',
    });
  }

  async interruptRevision(_id: string, revisionId: string, options?: CallOptions): Promise<void> {
    return this.#called('interrupt', options, () => {
      this.#advance();
      const found = this.service.revision(revisionId);
      if (found) found.status = 'INTERRUPTED';
    });
  }

  async redeployRevision(_id: string, revisionId: string, options?: ChangeOptions): Promise<Deployment> {
    return this.#written('redeploy', options, () => {
      this.#offers('redeploy');
      this.#isBasedOnLatest('redeploy revision', options);
      const old = this.service.revision(revisionId);
      if (!old || !this.service.deployment) throw serviceError('missing', 'redeploy revision', { status: 404 });
      if (this.scripts.length === 0)
        this.scripts.push(goesLive(old.source_revision_config.repo_commit_sha ?? undefined));
      const id = `r${this.service.revisions.length + 1}`;
      this.service.revisions.unshift({ ...structuredClone(old), id, status: 'QUEUED' });
      this.service.deployment = { ...this.service.deployment, latest_revision_id: id };
      this.#begin(options?.holdSeconds);
      this.onWrite();
      return this.#deployment();
    });
  }

  async listIntegrations(options?: CallOptions): Promise<GithubIntegration[]> {
    return this.#called('integrations', options, () => {
      this.#offers('integrations');
      return this.integrations;
    });
  }

  async listRepositories(integrationId: string, options?: CallOptions): Promise<GithubRepository[]> {
    return this.#called('repositories', options, () => {
      this.#offers('repositories');
      return this.repositories.get(integrationId) ?? [];
    });
  }

  async listListeners(page: { limit?: number; offset?: number }, options?: CallOptions): Promise<ListenersList> {
    return this.#called('listeners', options, () => {
      this.#offers('listeners');
      const { offset = 0, limit = 20 } = page;
      return { resources: this.listeners.slice(offset, offset + limit), offset };
    });
  }

  async buildLogs(_id: string, _revisionId: string, _query: unknown, options?: CallOptions): Promise<LogPage> {
    return this.#called('build logs', options, () => {
      this.#offers('logs');
      return { logs: this.buildLines.toReversed() };
    });
  }

  async deployLogs(_id: string, _revisionId: string, _query: unknown, options?: CallOptions): Promise<LogPage> {
    return this.#called('deploy logs', options, () => {
      this.#offers('logs');
      return { logs: [] };
    });
  }

  async requestUpload(_id: string, options?: CallOptions): Promise<UploadTarget> {
    return this.#called('request upload', options, () => {
      this.#offers('uploads');
      const path = this.service.handOut();
      return { upload_url: `https://store.test/${path}?signature=secret-of-the-store`, object_path: path };
    });
  }

  async putTarball(uploadUrl: string, { digest }: Tarball, options?: CallOptions): Promise<PutResult> {
    return this.#called('put', options, (): PutResult => {
      this.service.store(new URL(uploadUrl).pathname.slice(1), digest);
      return { kind: 'stored' };
    });
  }

  async deleteDeployment(id: string, query: { deleteTracingProject: boolean }, options?: CallOptions): Promise<void> {
    return this.#called('delete', options, () => {
      this.#offers('deletion');
      if (this.others.some((each) => each.id === id)) {
        this.others = this.others.filter((each) => each.id !== id);
        this.deleted.push({ id, ...query });
        return;
      }
      if (this.service.deployment?.id !== id) throw serviceError('missing', 'delete deployment', { status: 404 });
      this.deleted.push({ id, ...query });
      this.leaves();
      this.onWrite();
    });
  }

  /** The deployment is being deleted. */
  leaves(): void {
    if (!this.service.deployment) return;
    this.service.deployment = { ...this.service.deployment, status: 'AWAITING_DELETE' };
    this.#goneAt = this.#clock.now() + this.deletionMs;
  }

  /** Another client makes a revision. */
  push(script: Step[]): void {
    this.scripts.unshift(script);
    const { repo_ref, image_uri } = this.#deployment().source_revision_config;
    this.service.patch({ source_revision_config: repo_ref ? { repo_ref } : { image_uri } });
    this.#begin();
  }

  #written(operation: string, options: WriteOptions | undefined, write: () => Deployment): Promise<Deployment> {
    return this.#called(operation, options, () => {
      const key = this.honoursKeys ? options?.idempotencyKey : undefined;
      const known = key === undefined ? undefined : this.#answers.get(key);
      if (known !== undefined) return { ...this.#deployment(), latest_revision_id: known };
      const made = write();
      if (key !== undefined) this.#answers.set(key, made.latest_revision_id);
      return made;
    });
  }

  async #called<T>(operation: string, options: CallOptions | undefined, act: () => T): Promise<T> {
    options?.signal?.throwIfAborted();
    this.calls.push(operation);
    const fault = this.#faults.find((each) => each.operation === operation && each.times > 0);
    await Promise.resolve();
    options?.signal?.throwIfAborted();
    if (!fault) return act();
    fault.times -= 1;
    if (fault.applied) act();
    throw fault.error;
  }

  #offers(what: Answers): void {
    if (this.lacks.has(what)) throw notOffered(what);
  }

  #begin(holdSeconds?: number): void {
    const newest = this.service.revisions[0];
    if (!newest || this.#made.has(newest.id)) return;
    const at = this.#clock.now();
    newest.created_at = new Date(at).toISOString();
    newest.source_revision_config = { ...newest.source_revision_config, repo_commit_sha: null };
    const waits = newest.source_revision_config.source_tarball_path === null;
    this.#supersedeWaiting(newest.id);
    const script = waits ? [{ after: 0, status: 'QUEUED' }] : (this.scripts.shift() ?? goesLive());
    this.#made.set(newest.id, { at, script, served: false });
    if (holdSeconds !== undefined) this.#holds.request(newest, holdSeconds);
    this.#advance();
  }

  /** A revision without a tarball is replaced by the next one. */
  #supersedeWaiting(by: string): void {
    for (const { id, source_revision_config: config } of this.service.revisions) {
      const made = this.#made.get(id);
      if (id === by || config.source_tarball_path !== null || !made) continue;
      this.#made.set(id, { ...made, script: [{ after: 0, status: 'SKIPPED' }] });
    }
  }

  #advance(): void {
    const now = this.#clock.now();
    if (this.#goneAt !== undefined && this.#goneAt <= now) {
      this.service.deployment = undefined;
      this.#goneAt = undefined;
    }
    for (const revision of this.service.revisions.toReversed()) {
      const made = this.#made.get(revision.id);
      const step = made?.script.findLast(({ after }) => made.at + after <= now);
      if (!made || !step || this.#holds.keep(revision, step.status, made.at + step.after, now)) continue;
      revision.status = step.status;
      if (step.message) revision.status_message = step.message;
      if (step.buildWarnings) revision.build_warnings = step.buildWarnings;
      if (step.commit) {
        revision.source_revision_config = { ...revision.source_revision_config, repo_commit_sha: step.commit };
      }
      if (step.status === 'DEPLOYED' && !step.lags && !made.served && this.service.deployment) {
        made.served = true;
        this.service.deployment = { ...this.service.deployment, active_revision_id: revision.id };
      }
    }
  }

  #deployment(): Deployment {
    this.#advance();
    if (!this.service.deployment) throw new Error('there is no deployment');
    return structuredClone({ url: 'https://agent.test', ...this.service.deployment });
  }
}
