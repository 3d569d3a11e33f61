import { loggerTo } from '../../logger.ts';
import {
  GitHubApiError,
  InstallationPaused,
  type CheckContent,
  type CommitChecks,
  type Comparison,
  type Head,
  type GitHubApi,
  type ProtectionRead,
} from '../../../app/github/github-api.ts';
import { reconcileDeployment } from '../../../app/reconcile/reconcile-deployment.ts';
import type { Intent, IntentFields, IntentOutcomeKind } from '../../../app/reconcile/intent.ts';
import { checkName } from '../../../app/reconcile/report.ts';
import type { WorkStore } from '../../../app/reconcile/store.ts';
import type { SmokeTestRunner, AppContext } from '../../../app/context.ts';
import type { Clock } from '../../../src/kit/clock.ts';
import type { Deployment, DeploymentPatchRequest } from '../../../src/contract/control/deployment.ts';
import type { ChangeOptions } from '../../../src/contract/control/service.ts';
import type { RequiredCheck, SeenCheck } from '../../../src/deploy/rules/after-checks.ts';
import type { UnprovenReason, Verdict } from '../../../src/deploy/rules/verdict-types.ts';
import { AgentModel } from '../../deploy/smoke/agent-model.ts';
import { ControlModel, goesLive, type Step } from '../../deploy/machine/control-model.ts';
import { ModelSmoke } from '../simulation/model-smoke.ts';
import { MemoryStore } from './memory-store.ts';
import { commitOf, repository, start, requestOf } from './requests.ts';

/** Time that a test sets; `sleep` returns only when its signal aborts. */
export class SetClock implements Clock {
  #steady = start;
  #ahead = 0;
  now(): number {
    return this.#steady + this.#ahead;
  }
  steadyNow(): number {
    return this.#steady;
  }
  to(at: number): void {
    this.#steady = Math.max(this.#steady, at - this.#ahead);
  }
  /** The time of day is set; the monotonic clock continues. */
  jump(ms: number): void {
    this.#ahead += ms;
  }
  sleep(_ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((_, reject) => {
      signal?.addEventListener('abort', () => reject(new Error('the sleep was ended')), { once: true });
    });
  }
}

/** A service with optional idempotency keys, which builds the branch's current head. */
export class KeyedControl extends ControlModel {
  override honoursKeys = true;
  /** How each commit's revision ends; live by default. */
  readonly goes = new Map<string, Step[]>();
  /** How a revision goes to life. */
  live: (commit: string | undefined) => Step[] = goesLive;
  /** Called with every write before anything is done. */
  beforeWrite: (options?: ChangeOptions) => void = () => undefined;
  readonly #answers = new Map<string, string | null>();
  readonly #headOf: () => string;

  constructor(clock: Clock, headOf: () => string) {
    super(clock);
    this.#headOf = headOf;
  }

  override patchDeployment(id: string, request: DeploymentPatchRequest, options?: ChangeOptions): Promise<Deployment> {
    return this.#once(options, () => {
      if (this.scripts.length === 0) this.scripts.push(this.#scriptOf(this.#headOf()));
      return super.patchDeployment(id, request, options);
    });
  }

  override redeployRevision(id: string, revisionId: string, options?: ChangeOptions): Promise<Deployment> {
    return this.#once(options, () => {
      const commit = this.service.revision(revisionId)?.source_revision_config.repo_commit_sha;
      if (this.scripts.length === 0) this.scripts.push(this.live(commit ?? undefined));
      return super.redeployRevision(id, revisionId, options);
    });
  }

  /** Another client, an Action for example, builds the branch. */
  restatedByOthers(): void {
    this.push(this.#scriptOf(this.#headOf()));
  }

  #scriptOf = (head: string): Step[] => this.goes.get(head) ?? this.live(head);

  async #once(options: ChangeOptions | undefined, write: () => Promise<Deployment>): Promise<Deployment> {
    const key = options?.idempotencyKey;
    this.beforeWrite(options);
    const known = this.honoursKeys && key !== undefined ? this.#answers.get(key) : undefined;
    if (known !== undefined) return { ...(await this.getDeployment('d1')), latest_revision_id: known };
    const before = this.service.deployment?.latest_revision_id;
    try {
      return await write();
    } finally {
      const latest = this.service.deployment?.latest_revision_id ?? null;
      if (key !== undefined && latest !== before) this.#answers.set(key, latest);
    }
  }
}

/** GitHub as a line of commits and a branch that stands somewhere. */
class LineHub implements GitHubApi {
  /** Each commit contains those before it, unless it was forced. */
  commits: string[] = [];
  head_: string | undefined;
  message = 'Change the agent';
  paused: number | undefined;
  away = false;
  /** Each read is refused. */
  refuses = false;
  /** The checks of others by commit, and those that the branch requires. */
  readonly checks = new Map<string, readonly SeenCheck[]>();
  required: readonly RequiredCheck[] = [];
  /** The protection of every environment. */
  protection: ProtectionRead = { kind: 'none' };
  /** Who wrote every commit. */
  people: readonly string[] = [];
  hasNoStatuses = false;
  readonly reads: string[] = [];
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async head(): Promise<Head | undefined> {
    this.#reach('head');
    return this.head_ === undefined ? undefined : { sha: this.head_, message: this.message, committedAt: start };
  }
  async compare(_at: unknown, base: string, head: string): Promise<Comparison> {
    this.#reach('compare');
    const [from, to] = [this.commits.indexOf(base), this.commits.indexOf(head)];
    if (from === to) return { kind: 'identical' };
    return from !== -1 && from < to
      ? { kind: 'ahead', paths: ['agent.py'] }
      : { kind: 'unavailable', why: 'it went back' };
  }
  async file(): Promise<undefined> {
    return undefined;
  }
  async defaultBranch(): Promise<string> {
    return 'main';
  }
  async checksOf(_at: unknown, commit: string): Promise<CommitChecks> {
    this.#reach('checksOf');
    return { seen: this.checks.get(commit) ?? [], ...(this.hasNoStatuses ? { isUnread: true } : {}) };
  }
  async environmentProtection(): Promise<ProtectionRead> {
    this.#reach('environmentProtection');
    return this.protection;
  }
  async membershipOf(): Promise<'other'> {
    return 'other';
  }
  async peopleOf(): Promise<readonly string[]> {
    return this.people;
  }
  async requiredChecks(): Promise<readonly RequiredCheck[]> {
    this.#reach('requiredChecks');
    return this.required;
  }
  async permissionOf(): Promise<'write'> {
    return 'write';
  }
  async writeCheck(): Promise<number> {
    return 1;
  }
  async makeDeployment(): Promise<number> {
    return 1;
  }
  async writeDeploymentStatus(): Promise<void> {}
  async pullRequest(): Promise<undefined> {
    return undefined;
  }
  async writeComment(): Promise<number> {
    return 1;
  }
  async react(): Promise<void> {}

  #reach(operation: string): void {
    this.reads.push(operation);
    if (this.refuses) throw new GitHubApiError(`${operation} was refused`, 403, 'none');
    if (this.paused !== undefined && this.#clock.now() < this.paused) {
      throw new InstallationPaused(repository.installationId, this.paused, 'a rate limit');
    }
    if (this.away) throw new GitHubApiError(`${operation} failed`, 502, 'none');
  }
}

const verdictOf = (kind: 'passed' | 'failed' | 'unproven', because: UnprovenReason = 'unreachable'): Verdict => ({
  kind,
  tests: [
    {
      name: 'greets',
      attempts: 1,
      verdict:
        kind === 'unproven' ? { kind, because, why: 'no response' } : { kind, held: [], firstEventMs: 5, totalMs: 9 },
    },
  ],
});

/** What the one deployment was created with; its id is `d1`. */
export const supportDeployment = {
  name: 'support',
  source: 'github' as const,
  source_config: { repo_url: 'https://github.test/acme/agents', build_on_push: true },
  source_revision_config: { repo_ref: 'main', graph_config_path: 'langgraph.json' },
  secrets: [{ name: 'TOKEN', value: 'very-secret-token' }],
};

/** One deployment, its repository, and the App's queue for it, on a clock that advances from job to job. */
export class QueueFixture {
  readonly clock = new SetClock();
  readonly githubApi = new LineHub(this.clock);
  readonly control = new KeyedControl(this.clock, () => this.githubApi.head_ ?? '');
  readonly store = new MemoryStore({
    now: () => this.clock.now(),
    send: (name, id, at) => {
      if (name === 'lane') this.jobs.push({ id, at });
    },
  });
  readonly jobs: { id: string; at: number }[] = [];
  readonly logged: string[] = [];
  readonly steps: string[] = [];
  /** The addresses at which agents were tested, each once in a row. */
  readonly tested: string[] = [];
  /** What the smoke tests of a commit come to. */
  readonly verdicts = new Map<string, 'passed' | 'failed' | 'unproven'>();
  /** Why those are unproven that are. */
  because: UnprovenReason = 'unreachable';
  /** Whether the live revision answers nothing that can be measured. */
  isSilent = false;
  /** What tests have at the live revision, and those that compared what they must not compare. */
  readonly threads = new Set<string>();
  /** How often a test was sent to the live revision. */
  opened = 0;
  readonly mistaken: string[] = [];
  context: AppContext;
  #deliveries = 0;

  constructor() {
    this.githubApi.commits = [commitOf('0')];
    this.githubApi.head_ = commitOf('0');
    this.control.has(supportDeployment, [{ after: 0, status: 'DEPLOYED', commit: commitOf('0') }]);
    const tests = new ModelSmoke(() => this.clock.now(), {
      fateOf: () => (this.isSilent ? 'flaky' : 'good'),
      serving: () => this.control.service.deployment?.active_revision_id ?? undefined,
      openThread: (id) => {
        this.threads.add(id);
        this.opened += 1;
      },
      closeThread: (id) => void this.threads.delete(id),
      mistook: (what) => void this.mistaken.push(what),
    });
    const smoke: SmokeTestRunner = {
      measure: (intent, measurement) => tests.measure(intent, measurement),
      cleanUp: (intent) => tests.cleanUp(intent),
      advance: async (intent) => {
        if (!intent.smoke) return { kind: 'waiting', state: { requested: true }, at: this.clock.now() + 2_000 };
        const revision = this.control.service.revision(intent.revisionId);
        // Nothing answers at the address of a revision that is no longer held.
        if (intent.hold && revision?.hold?.decision !== null) return { kind: 'done', verdict: verdictOf('unproven') };
        const serving = revision?.source_revision_config.repo_commit_sha ?? '';
        const compared = intent.hold ? [] : await tests.compared(intent);
        return { kind: 'done', verdict: verdictOf(this.verdicts.get(serving) ?? 'passed', this.because), compared };
      },
    };
    this.context = {
      clock: this.clock,
      random: () => 0.5,
      store: this.store,
      githubApi: this.githubApi,
      control: this.control,
      agentAt: (url) => {
        if (this.tested.at(-1) !== url) this.tested.push(url);
        return new AgentModel(this.clock);
      },
      targets: { targetsOf: async () => ({ targets: [], refused: [] }) },
      smoke,
      log: loggerTo((message) => this.logged.push(message)),
      step: (name) => void this.steps.push(name),
    };
  }

  /** Commits on top of all commits so far, and pushes; without a delivery if `reported` is false. */
  async push(
    letter: string,
    { reported = true, ...more }: { reported?: boolean } & Parameters<typeof requestOf>[1] = {},
  ): Promise<string> {
    const commit = commitOf(letter);
    if (!this.githubApi.commits.includes(commit)) this.githubApi.commits.push(commit);
    this.githubApi.head_ = commit;
    if (reported) await this.request(commit, more);
    return commit;
  }

  request(commit: string, more: Parameters<typeof requestOf>[1] = {}): Promise<Intent | undefined> {
    this.#deliveries += 1;
    return this.store.request(requestOf(commit, { deploymentId: 'd1', key: `delivery-${this.#deliveries}`, ...more }));
  }

  /** Works on the jobs whose time comes within `ms`, each at its time. */
  async run(
    ms = 4 * 60 * 60_000,
    context: AppContext = this.context,
    signal = new AbortController().signal,
  ): Promise<void> {
    const until = this.clock.now() + ms;
    for (let rounds = 0; rounds < 2_000; rounds += 1) {
      const next = this.jobs.toSorted((one, other) => one.at - other.at)[0];
      if (!next || next.at > until) {
        this.clock.to(until);
        return;
      }
      this.jobs.splice(this.jobs.indexOf(next), 1);
      this.clock.to(next.at);
      await reconcileDeployment(next.id, context, signal);
    }
    throw new Error('the queue never becomes idle');
  }

  /** How every intent of a commit ended, or stands, oldest first. */
  async ends(commit: string): Promise<(IntentOutcomeKind | Intent['state'])[]> {
    return (await this.store.intentsOf('d1', commit)).map(({ state, end }: IntentFields) => end?.kind ?? state);
  }

  async intent(commit: string): Promise<IntentFields> {
    const found = (await this.store.intentsOf('d1', commit)).findLast(({ cause }) => cause.kind !== 'failure');
    if (!found) throw new Error(`no intent of ${commit}`);
    return found;
  }

  async check(commit: string): Promise<CheckContent | undefined> {
    const report = await this.store.reportOf(repository.repositoryId, commit, checkName('support'));
    return report?.wanted.kind === 'check' ? report.wanted.content : undefined;
  }

  /** The commits of what serves and of the newest revision. */
  get serving(): string | undefined {
    const { deployment } = this.control.service;
    return (
      this.control.service.revision(deployment?.active_revision_id)?.source_revision_config.repo_commit_sha ?? undefined
    );
  }

  /** How many revisions there are beside the first. */
  get made(): number {
    return this.control.service.revisions.length - 1;
  }
}

/**
 * A store that fails in the middle: `crash` says for each call whether it breaks off before or after it took effect.
 */
export function crashing(store: WorkStore, crash: (method: string) => 'before' | 'after' | undefined): WorkStore {
  return new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      return async (...given: unknown[]) => {
        const at = crash(String(name));
        if (at === 'before') throw new Error(`killed before ${String(name)}`);
        const answer: unknown = await Reflect.apply(member, target, given);
        if (at === 'after') throw new Error(`killed after ${String(name)}`);
        return answer;
      };
    },
  });
}
