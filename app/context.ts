import type { Logger } from '../src/kit/logger.ts';
import type { Clock } from '../src/kit/clock.ts';
import type { AgentServer } from '../src/contract/agent/service.ts';
import type { ControlRecords, ControlService } from '../src/contract/control/service.ts';
import type { SmokeTest } from '../src/deploy/file/smoke-test.ts';
import type { GitHubApi, InstallationRepository } from './github/github-api.ts';
import type { IntentFields, Measuring, SmokeState, Testing } from './reconcile/intent.ts';
import type { EarlierDeployment, DeployTerms } from './reconcile/deploy-request.ts';
import type { TestAnswers, TestResult } from '../src/deploy/machine/state.ts';
import type { DeployFile } from './targets/file-entries.ts';
import type { WorkStore } from './reconcile/store.ts';
import type { PreviewStore } from './previews/preview-store.ts';

/** Progress of a revision's smoke tests. */
export type SmokeStepResult =
  /** `compared`: what the revision answered to tests that compare it. */
  ({ kind: 'done' } & Pick<TestResult, 'verdict' | 'compared'>) | SmokeWaiting;

/** Check again at this time (ms since the epoch), or when a webhook notifies the deployment queue. */
export interface SmokeWaiting {
  kind: 'waiting';
  state: SmokeState;
  at: number;
}

/** Progress of measuring the live revision: all answers to one test, or none that can be compared. */
export type MeasureStepResult = ({ kind: 'measured'; state: SmokeState } & Pick<TestAnswers, 'samples'>) | SmokeWaiting;

/** A test that the live revision is sent before a change, with the answers that it need not give again. */
export interface Measurement {
  test: SmokeTest;
  former: TestAnswers['samples'];
  /** When it ends with the answers so far (ms since the epoch). */
  until: number;
}

/** Stores the state of smoke tests during a step. */
export type KeepSmoke = (state: SmokeState) => Promise<void>;

/** Runs smoke tests against a live or a held revision. Another process can resume from the stored state at any moment. */
export interface SmokeTestRunner {
  /**
   * @param keep stores what a longer step has come to
   * @param live the agent that serves, which tests against it are compared with; absent where there is none
   */
  advance(
    intent: Testing,
    agent: AgentServer,
    signal: AbortSignal,
    keep: KeepSmoke,
    live?: AgentServer,
  ): Promise<SmokeStepResult>;
  /** Sends one test to the live agent until enough answers can be compared with. */
  measure(
    intent: Measuring,
    measurement: Measurement,
    agent: AgentServer,
    signal: AbortSignal,
  ): Promise<MeasureStepResult>;
  /** Removes what the stored state names at the agent, where no further step follows. */
  cleanUp(intent: IntentFields, agent: AgentServer, signal: AbortSignal): Promise<void>;
}

/** One deployment that pushes to a branch are for, with the terms that hold for it now. */
export interface Target {
  deploymentId: string;
  /** In the document's spelling: what is restated. */
  repoRef: string;
  terms: DeployTerms;
}

/** One deployment of a later environment. */
export type LaterTarget = Target & { terms: { promotedFrom: EarlierDeployment } };

export const isLater = (target: Target): target is LaterTarget => target.terms.promotedFrom !== undefined;

/** What a repository's branch deploys. */
export interface Targets {
  targets: readonly Target[];
  /**
   * Deployments that are named or listed and not acted upon, each with the reason; fit to show. One that is a failure
   * fails the check.
   */
  refused: readonly { deployment: string; why: string; isFailure?: boolean }[];
  /** Deployments of later environments: no push is for them, but what the one before has proven. Absent: none. */
  later?: readonly LaterTarget[];
}

/** Finds what a branch deploys, from the service's list and the file of the default branch. */
export interface TargetResolver {
  targetsOf(repository: InstallationRepository, branch: string): Promise<Targets>;
}

/** The App's dependencies. */
export interface AppContext {
  clock: Clock;
  random: () => number;
  store: WorkStore;
  githubApi: GitHubApi;
  control: ControlService;
  /** What the service recorded of its revisions; absent where that is not known. */
  records?: ControlRecords;
  /** The base address of the control service, which receipts name; absent: none are made. */
  serviceAddress?: string | undefined;
  agentAt: (url: string) => AgentServer;
  targets: TargetResolver;
  smoke: SmokeTestRunner;
  /** One line for the operator's log, never with a secret. */
  log: Logger;
  /**
   * Called at the named moments between which a process may be killed: `measuring`, `measured`, `before-send`, `sent`, `answer-stored`,
   * `followed-once`, `held`, `before-decision`, `decided`, `smoke-began`, `before-conclusion`, and those of other modules. For tests.
   */
  step?: (name: string, intentId?: string) => void | Promise<void>;
  /** Takes note of pull requests that may have previews; absent where the App makes none. */
  previews?: Pick<PreviewStore, 'notify' | 'renotify' | 'openPulls' | 'moved' | 'preview'>;
  /** Reads the deploy file of the default branch, which says what previews there are. */
  previewFile?: (repository: InstallationRepository) => Promise<DeployFile>;
  /** Has what was missed looked for within seconds, and not only at the next regular time. */
  recoverSoon?: () => Promise<void>;
}
