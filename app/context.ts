import type { Logger } from '../src/logger.ts';
import type { Clock } from '../src/clock.ts';
import type { AgentServer } from '../src/contract/agent/service.ts';
import type { ControlService } from '../src/contract/control/service.ts';
import type { Verdict } from '../src/planning/verdict-types.ts';
import type { GitHubApi } from './github/github-api.ts';
import type { Intent, SmokeState, Terms } from './reconcile/intent.ts';
import type { WorkStore } from './reconcile/store.ts';

/** Progress of a revision's smoke tests. */
export type SmokeStepResult =
  | { kind: 'done'; verdict: Verdict }
  /** Check again at this time (ms since the epoch), or when a webhook notifies the deployment queue. */
  | { kind: 'waiting'; state: SmokeState; at: number };

/** Runs smoke tests against a live or a held revision. Another process can resume from the stored state at any moment. */
export interface SmokeTestRunner {
  /** `live`: the agent that serves, which tests against it are compared with; absent where there is none. */
  advance(intent: Intent, agent: AgentServer, signal: AbortSignal, live?: AgentServer): Promise<SmokeStepResult>;
}

/** One deployment that pushes to a branch are for, with the terms that hold for it now. */
export interface Target {
  deploymentId: string;
  /** In the document's spelling: what is restated. */
  repoRef: string;
  terms: Terms;
}

/** What a repository's branch deploys. */
export interface Targets {
  targets: readonly Target[];
  /**
   * Deployments that are named or listed and not acted upon, each with the reason; fit to show. One that is a failure
   * fails the check.
   */
  refused: readonly { deployment: string; why: string; isFailure?: boolean }[];
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
  agentAt: (url: string) => AgentServer;
  targets: TargetResolver;
  smoke: SmokeTestRunner;
  /** One line for the operator's log, never with a secret. */
  log: Logger;
  /**
   * Called at the named moments between which a process may be killed: `before-send`, `sent`, `answer-stored`,
   * `followed-once`, `held`, `before-decision`, `decided`, `smoke-began`, `before-conclusion`, and those of other modules. For tests.
   */
  step?: (name: string, intentId?: string) => void | Promise<void>;
  /** Stores a decision with its delivery, replacing an earlier one. JSON, without secrets. */
  decided?: (deliveryId: string, decision: Readonly<Record<string, unknown>>) => void;
}

/** A repository as one installation of the App reaches it. The id stays when the repository is renamed or moved. */
export interface InstallationRepository {
  installationId: number;
  repositoryId: number;
  owner: string;
  name: string;
}

/** `owner/name`, as people say it. */
export const fullName = ({ owner, name }: Pick<InstallationRepository, 'owner' | 'name'>): string => `${owner}/${name}`;
