import { loggerTo } from '../../logger.ts';
import type { Intent } from '../../../app/reconcile/intent.ts';
import type { DeployTerms } from '../../../app/reconcile/deploy-request.ts';
import type { WorkStore } from '../../../app/reconcile/store.ts';
import type { PreviewContext } from '../../../app/previews/preview-context.ts';
import type { workOnReport } from '../../../app/reporting/report-job.ts';
import { isLater, type AppContext, type Target, type TargetResolver } from '../../../app/context.ts';
import type { SeenCheck } from '../../../src/deploy/rules/after-checks.ts';
import { AgentModel } from '../../deploy/smoke/agent-model.ts';
import { randomFrom } from '../../random-from.ts';
import type { Setting } from './commands.ts';
import { EventClock } from './event-clock.ts';
import { Faults } from './faults.ts';
import { CheckHistory } from './gated.ts';
import { ModelControl } from './model-control.ts';
import { ModelGit } from './model-git.ts';
import { ModelHub } from './model-hub.ts';
import { ModelLocks } from './model-locks.ts';
import { ModelJobs, type Worker } from './model-jobs.ts';
import { ModelProcess } from './model-process.ts';
import { ModelPulls } from './model-pulls.ts';
import { ModelSmoke } from './model-smoke.ts';
import { reviewer } from './reviewed.ts';
import { Previewing } from './previewing.ts';
import { aPullRequest } from '../github/a-pull-request.ts';
import { branch, deploymentIds, pullNumber, repository, termsOf } from './terms.ts';

/** A delivery as the inbox keeps it. */
export interface Delivery {
  guid: string;
  requests:
    | { kind: 'push'; after: string | undefined }
    | { kind: 'comment'; body: string; commentId: number; writtenAt: number; number: number; by: string }
    | { kind: 'rerun' | 'redeploy' | 'rollback' | 'promote' | 'approve'; commit: string; name: string }
    | { kind: 'checks'; commit: string }
    /** `about`: the pull request that changed. */
    | { kind: 'event'; name: 'pull_request' | 'installation'; payload: object; about?: number };
  storedAt?: number;
  /** What its handler did, once it returned. */
  did?: readonly string[];
}

/** Makes the store of the App's work, which sends jobs through `send`. */
export type MakeStore = (
  clock: EventClock,
  send: (name: 'lane' | 'report', id: string, at: number | undefined) => void,
) => WorkStore;

/** What does the App's jobs: its own code, or in some tests a wrong one. */
export interface Code {
  makeStore: MakeStore;
  deploymentQueue(deploymentId: string, context: AppContext, signal: AbortSignal): Promise<unknown>;
  report: typeof workOnReport;
  deliver(delivery: Delivery, context: AppContext): Promise<readonly string[]>;
  recover(context: AppContext): Promise<unknown>;
  previewContext(context: PreviewContext): PreviewContext;
  sweep(context: PreviewContext): Promise<unknown>;
}

/** Everything outside of the App, some processes of it, and what outlives them. */
export class Simulation {
  readonly clock = new EventClock();
  readonly faults = new Faults();
  readonly git = new ModelGit(() => this.clock.now());
  readonly githubApi = new ModelHub(this.git);
  readonly control: ModelControl;
  readonly store: WorkStore;
  readonly jobs: ModelJobs;
  readonly checkHistory = new CheckHistory();
  readonly pulls = new ModelPulls(this.githubApi, this.git, () => this.clock.now());
  readonly previewing: Previewing;
  readonly deliveries: Delivery[] = [];
  readonly deploymentIds: readonly string[];
  readonly processes: ModelProcess[] = [];
  readonly log: string[] = [];
  /** A process stood still in the middle of a call: what it goes on with then may be at an agent for good. */
  hasStalled = false;
  reviewEndedAt = Infinity;
  readonly setting: Setting;
  readonly #code: Code;
  readonly #random: () => number;
  readonly #locks = new ModelLocks();
  readonly #worlds = new Map<ModelProcess, { context: AppContext; previews: PreviewContext }>();

  constructor(setting: Setting, code: Code) {
    this.setting = setting;
    this.#code = code;
    this.#random = randomFrom(setting.seed);
    this.control = new ModelControl(this.clock, this.git, this.#random, setting.offers);
    this.jobs = new ModelJobs(this.clock, this.#work);
    this.store = code.makeStore(this.clock, (name, id, at) => this.jobs.send(name, id, at));
    const begin = this.git.commit(branch, { message: 'Begin', paths: ['agent.py'], fate: 'good' });
    this.githubApi.pulls.set(pullNumber, aPullRequest(begin));
    this.deploymentIds = deploymentIds.slice(0, setting.deployments);
    for (const id of this.deploymentIds) this.control.add(id, branch);
    this.previewing = new Previewing(this);
    if (setting.isReviewed) {
      const reviewers = { users: [reviewer], teams: [], preventsSelfReview: false };
      this.githubApi.open = this.termsOf(deploymentIds[0]).environment.name;
      this.githubApi.protection = { kind: 'protected', protection: { waitMinutes: 0, unknown: [], reviewers } };
    }
    for (let copy = 0; copy < setting.copies; copy += 1) this.start(`app-${copy}`);
  }

  /** A process of the App begins to work. */
  start(name: string): ModelProcess {
    const made = new ModelProcess(name, this.clock, this.faults, this.#random);
    const context = this.contextOf(made);
    const previews = this.previewing.contextOf(made, context, this.#locks.of(made));
    this.#worlds.set(made, { context, previews: this.#code.previewContext(previews) });
    this.processes.push(made);
    this.jobs.join(made);
    return made;
  }

  /** The context of a process: all its dependencies go through the process. */
  contextOf(process: ModelProcess): AppContext {
    const clock = process.clock();
    return {
      clock,
      random: this.#random,
      store: process.reaching('store', this.store),
      githubApi: process.reaching('githubApi', this.githubApi),
      control: process.reaching('control', this.control),
      agentAt: () => new AgentModel(clock),
      targets: process.reaching('control', this.targets),
      smoke: process.reaching('control', new ModelSmoke(() => this.clock.now(), this.control)),
      log: loggerTo((message) => this.log.push(`${this.clock.now()} ${process.name}: ${message}`)),
      step: (name) => process.reach(name),
      ...this.previewing.forApp(process),
    };
  }

  readonly targets: TargetResolver = {
    targetsOf: async (_repository, of) => ({
      targets: of === branch ? [...this.#targets().filter((each) => !isLater(each)), ...this.#strayTargets()] : [],
      later: of === branch ? this.#targets().filter(isLater) : [],
      refused: [],
    }),
  };

  #strayTargets(): Target[] {
    return this.setting.previews ? this.previewing.strayTargets() : [];
  }

  #targets(): Target[] {
    return this.deploymentIds.map((deploymentId) => ({
      deploymentId,
      repoRef: branch,
      terms: this.termsOf(deploymentId),
    }));
  }

  /** The deployments that pushes are for. */
  get pushedIds(): readonly string[] {
    return this.deploymentIds.filter((id) => !this.termsOf(id).promotedFrom);
  }

  termsOf(deploymentId: string): DeployTerms {
    return termsOf(deploymentId, this.setting);
  }

  /** A check of others on a commit comes to a state. */
  setCheck(commit: string, check: SeenCheck): void {
    this.githubApi.setCheck(commit, check);
    this.checkHistory.set(commit, check.name, check.state, this.clock.now());
  }

  /** GitHub sends a delivery, which arrives after each of these times (ms), or is lost. */
  deliver(requests: Delivery['requests'], arrive: readonly number[]): void {
    const delivery: Delivery = { guid: `delivery-${this.deliveries.length + 1}`, requests };
    this.deliveries.push(delivery);
    for (const ms of arrive) this.clock.after(ms, () => this.arrive(delivery));
  }

  /** The App no longer reaches the repository. */
  uninstall(): void {
    this.previewing.uninstalledAt ??= this.clock.now();
    this.githubApi.isGone = true;
  }

  /** GitHub's reviewers are no longer required. */
  endReview(): void {
    this.reviewEndedAt = this.clock.now();
    this.githubApi.protection = { kind: 'none' };
  }

  /** GitHub tells of a push of the deployed branch, which a service may build by itself. */
  deliverPush(arrive: readonly number[]): void {
    const after = this.git.branches.get(branch);
    if (after !== undefined && this.setting.builder === 'service') {
      for (const id of this.deploymentIds) this.control.restateBeside(id, 'service');
    }
    this.deliver({ kind: 'push', after }, arrive);
  }

  /** A person comments; GitHub may deliver that under several GUIDs. */
  comment(
    { body, number, by, copies }: { body: string; number: number; by: string; copies: number },
    arrive: readonly number[],
  ): void {
    const commentId = 1_000 + this.deliveries.length;
    const comment = { kind: 'comment', body, commentId, writtenAt: this.clock.now(), number, by } as const;
    for (let copy = 0; copy < copies; copy += 1) this.deliver(comment, arrive);
  }

  /** GitHub tells of a change of a pull request. */
  deliverPull(number: number, action: string, arrive: readonly number[]): void {
    const pull = this.pulls.get(number)?.state;
    if (!pull) return;
    const { repositoryId, installationId, owner, name } = repository;
    const id = pull.isFork ? repositoryId + 1 : repositoryId;
    const payload = {
      action,
      number,
      pull_request: { head: { sha: pull.headSha, repo: { id } }, base: { ref: pull.baseBranch } },
      repository: { id: repositoryId, full_name: `${owner}/${name}`, fork: false },
      installation: { id: installationId },
    };
    this.deliver({ kind: 'event', name: 'pull_request', payload, about: number }, arrive);
  }

  /** A delivery arrives: it is stored with its job, or known already. */
  arrive(delivery: Delivery): void {
    if (delivery.storedAt !== undefined) return;
    delivery.storedAt = this.clock.now();
    this.jobs.send('delivery', delivery.guid);
  }

  readonly #work: Worker = async (job, process) => {
    const { name, id, at } = job;
    const world = this.#worlds.get(process);
    if (!world) throw new Error('the process was never started');
    const { context, previews } = world;
    if (name === 'lane') await this.#code.deploymentQueue(id, context, new AbortController().signal);
    else if (name === 'report') await this.#report(id, at, context, process);
    else if (name === 'sweep') await this.#code.sweep(previews);
    else if (this.previewing.isItsJob(job)) await this.previewing.work(job, previews);
    else if (name === 'recovery') await this.#code.recover(context);
    else {
      const delivery = this.deliveries.find(({ guid }) => guid === id);
      if (delivery) delivery.did = await this.#code.deliver(delivery, context);
    }
  };

  async #report(id: string, at: number, context: AppContext, process: ModelProcess): Promise<void> {
    const reporting = { ...context, reportLocks: this.#locks.of(process) };
    await this.#code.report({ id, at }, reporting, async (data, { id: jobId, startAfter }) => {
      this.jobs.sendOnce('report', data.id, startAfter.getTime(), jobId);
    });
  }

  /** Intents of a deployment, every one of them, oldest first. */
  async intents(deploymentId: string): Promise<Intent[]> {
    return (await this.store.lastIntents(deploymentId, 1_000)).toReversed();
  }
}
