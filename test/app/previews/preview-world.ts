import { judgeHere } from '../../../src/deploy/smoke/judge.ts';
import { lookAtPull } from '../../../app/previews/look-at-pull.ts';
import type { PreviewContext } from '../../../app/previews/preview-context.ts';
import { previewJobs, pullJob } from '../../../app/previews/preview-store.ts';
import { removeUnreachable } from '../../../app/previews/remove-unreachable.ts';
import { sweepPreviews } from '../../../app/previews/sweep.ts';
import { workOnPreview } from '../../../app/previews/work-on-preview.ts';
import { approvePreview } from '../../../app/previews/approve.ts';
import { readDeployFile } from '../../../app/targets/file-entries.ts';
import type { InstallationRepository, PullRequestKey, PullRequestState } from '../../../app/github/github-api.ts';
import { markOf, previewName } from '../../../src/deploy/rules/preview.ts';
import { loggerTo } from '../../logger.ts';
import { randomFrom } from '../../random-from.ts';
import { AgentModel } from '../../deploy/smoke/agent-model.ts';
import { EventClock } from '../simulation/event-clock.ts';
import { Faults } from '../simulation/faults.ts';
import { ModelJobs, type ModelJob } from '../simulation/model-jobs.ts';
import { ModelLocks } from '../simulation/model-locks.ts';
import { ModelProcess } from '../simulation/model-process.ts';
import { previewed, repository } from './a-preview.ts';
import { MemoryPreviews } from './memory-previews.ts';
import { ModelService } from './model-service.ts';

/** The settings of a history. */
export interface WorldSetting {
  when: string;
  expiresAfter: string;
  max: number;
  copies: number;
  honoursKeys: boolean;
  pinsCommits: boolean;
  seed: number;
}

/** A pull request of the model, and what happened to it. */
export interface ModelPull {
  state: PullRequestState;
  /** The commits that it had, oldest first. */
  pushed: string[];
  /** When it was closed for good, and for a time (ms since the epoch). */
  closedAt: number;
  closed: { from: number; until: number }[];
  changedAt: number;
  /** When one of its deliveries arrived last. */
  heardAt: number;
  /** The commits that a person approved. */
  approved: Set<string>;
}

const ownUrl = 'https://github.com/acme/agents';
const forkUrl = 'https://github.com/mallory/agents';

/** The code that works on previews; tests replace parts by wrong ones. */
export interface PreviewCode {
  contextOf: (context: PreviewContext) => PreviewContext;
  sweep: typeof sweepPreviews;
}

/** The App's own code. */
export const previewCode: PreviewCode = { contextOf: (context) => context, sweep: sweepPreviews };

function notThere(): never {
  throw new Error('no preview of these histories needs it');
}

/** GitHub, the service and processes of the App that make previews. */
export class PreviewWorld {
  readonly clock = new EventClock();
  readonly faults = new Faults();
  readonly service: ModelService;
  readonly previews: MemoryPreviews;
  readonly pulls = new Map<number, ModelPull>();
  readonly jobs: ModelJobs;
  readonly processes: ModelProcess[] = [];
  readonly log: string[] = [];
  readonly setting: WorldSetting;
  /** When the App was uninstalled (ms since the epoch). */
  uninstalledAt: number | undefined;
  /** The preview is taken out of the deploy file. */
  isOutOfFile = false;
  /** What the names of previews begin with, as the deploy file says. */
  base: string | undefined;
  /** Deployments that are not the App's. */
  readonly others: readonly string[];
  readonly #code: PreviewCode;
  readonly #random: () => number;
  readonly #locks = new ModelLocks();
  readonly #contexts = new Map<ModelProcess, PreviewContext>();

  private constructor(setting: WorldSetting, code: PreviewCode) {
    this.setting = setting;
    this.#code = code;
    this.#random = randomFrom(setting.seed);
    this.service = new ModelService(this.clock, setting);
    this.service.headOf = (repoUrl, repoRef) =>
      repoRef === 'main' ? 'f'.repeat(40) : this.#pullAt(repoUrl, repoRef)?.state.headSha;
    this.jobs = new ModelJobs(this.clock, (job, process) => this.#work(job, process));
    this.previews = new MemoryPreviews({
      now: () => this.clock.now(),
      send: (name, key, at) => this.jobs.send(name, JSON.stringify(key), at),
    });
    const key = { repositoryId: repository.repositoryId, number: 1, entry: 'support' };
    this.others = ['support', previewName({ ...key, entry: 'unmarked' }), 'of-another-repository'];
  }

  static async open(setting: WorldSetting, code: PreviewCode): Promise<PreviewWorld> {
    const world = new PreviewWorld(setting, code);
    const secrets = [
      [],
      [],
      [{ name: 'LANDFALL_PREVIEW', value: markOf({ repositoryId: 99, number: 1, entry: 'x' }) }],
    ];
    for (const [index, name] of world.others.entries()) {
      await world.service.createDeployment({
        name,
        source: 'github',
        source_config: { repo_url: ownUrl },
        source_revision_config: { repo_ref: 'main', graph_config_path: 'langgraph.json' },
        secrets: [{ name: 'PRODUCTION_KEY', value: 'production-value' }, ...(secrets[index] ?? [])],
      });
    }
    for (let copy = 0; copy < setting.copies; copy += 1) world.start(`app-${copy}`);
    return world;
  }

  /** A process of the App begins to work. */
  start(name: string): void {
    const process = new ModelProcess(name, this.clock, this.faults, this.#random);
    this.#contexts.set(process, this.#code.contextOf(this.#contextOf(process)));
    this.processes.push(process);
    this.jobs.join(process);
  }

  get alive(): ModelProcess[] {
    return this.processes.filter(({ isAlive }) => isAlive);
  }

  #pullAt(repoUrl: string, repoRef: string): ModelPull | undefined {
    return [...this.pulls.values()].find(({ state }) => state.headUrl === repoUrl && state.headRef === repoRef);
  }

  /** Someone opens a pull request. */
  open(number: number, isFork: boolean, sha: string): void {
    const headRef = `branch-${number}`;
    const state: PullRequestState = {
      headSha: sha,
      baseBranch: 'main',
      isOpen: true,
      isMerged: false,
      labels: [],
      headRef,
      isFork,
      repositoryUrl: ownUrl,
      headUrl: isFork ? forkUrl : ownUrl,
      ...(isFork ? {} : { headBranch: headRef }),
    };
    this.pulls.set(number, {
      state,
      pushed: [sha],
      closedAt: Infinity,
      closed: [],
      changedAt: this.clock.now(),
      heardAt: -Infinity,
      approved: new Set(),
    });
  }

  /** A delivery arrives after each of these times (ms), or is lost. */
  deliver(number: number, arrive: readonly number[]): void {
    const pull = this.pulls.get(number);
    if (pull) pull.changedAt = this.clock.now();
    for (const ms of arrive) {
      this.clock.after(ms, () => {
        if (pull) pull.heardAt = this.clock.now();
        this.jobs.send('delivery', String(number));
      });
    }
  }

  async #work({ name, id }: ModelJob, process: ModelProcess): Promise<void> {
    const context = this.#contexts.get(process);
    if (!context) throw new Error('the process was never started');
    const { signal } = new AbortController();
    if (name === pullJob) return lookAtPull(JSON.parse(id), context);
    if (name === previewJobs.deploy || name === previewJobs.gone) return workOnPreview(JSON.parse(id), context, signal);
    if (name === 'delivery') return context.previews.notify(repository, Number(id), { isUnreachable: false });
    if (name === 'approve') {
      const [number, commit] = id.split(' ');
      return approvePreview(context, { repository, number: Number(number) }, commit ?? '', 'wilma');
    }
    if (name === 'uninstall') return void (await removeUnreachable(context.previews, context.clock, () => true));
    await this.#code.sweep(context);
  }

  #installed(): ReadonlyMap<number, InstallationRepository> {
    return new Map(this.uninstalledAt === undefined ? [[repository.repositoryId, repository]] : []);
  }

  #contextOf(process: ModelProcess): PreviewContext {
    const clock = process.clock();
    const githubApi = {
      pullRequest: async ({ number }: PullRequestKey) =>
        this.uninstalledAt === undefined ? structuredClone(this.pulls.get(number)?.state) : undefined,
    };
    const files = { deployFile: async () => readDeployFile({ text: this.#file() }) };
    return {
      clock,
      random: this.#random,
      previews: process.reaching('store', this.previews),
      githubApi: process.reaching('githubApi', githubApi),
      control: process.reaching('control', this.service),
      agentAt: () => new AgentModel(clock),
      judge: judgeHere,
      gradersOf: () => ({ judge: notThere, similarity: notThere, close: async () => undefined }),
      deployFile: process.reaching('githubApi', files).deployFile,
      secretOf: (_, name) => ({ OWN_KEY: 'preview-value', FORK_KEY: 'fork-value' })[name],
      installed: process.reaching('githubApi', { installed: async () => this.#installed() }).installed,
      hostedIdOf: (id) => id,
      refusalOf: () => undefined,
      locks: this.#locks.of(process),
      log: loggerTo((message) => this.log.push(`${this.clock.now()} ${process.name}: ${message}`)),
      leaving: new AbortController().signal,
      serviceAddress: 'https://control.test',
      credentials: [],
    };
  }

  #file(): string {
    const { when, expiresAfter, max } = this.setting;
    if (this.isOutOfFile) return previewed('false');
    const named = this.base === undefined ? '' : `name: ${this.base}, `;
    return previewed(
      `{ ${named}when: ${when}, expires-after: ${expiresAfter}, max: ${max}, secrets: [OWN_KEY], fork-secrets: [FORK_KEY] }`,
    );
  }
}
