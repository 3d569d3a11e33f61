import type { AppContext } from '../context.ts';
import type { InstallationRepository } from '../github/github-api.ts';

/** The check run on which a person requested an action. `externalId` is the id of our report. */
interface CheckAction {
  name: string;
  externalId: string | undefined;
}

/** An open pull request, as an event names it. Nothing of its head is to be trusted. */
export interface PullRequest {
  repository: InstallationRepository;
  number: number;
  headSha: string;
  baseBranch: string;
  /** Whether the head lies in another repository. One that was deleted counts as another. */
  fork: boolean;
}

/** What became of an installation's reach. */
export type InstallationChange = 'added' | 'removed' | 'suspended' | 'resumed';

/** What an event requires. `why` is a clause without a full stop. Stored as JSON with the delivery. */
export type EventDecision =
  /** A branch was pushed: read its head. */
  | { kind: 'push'; repository: InstallationRepository; branch: string; after: string; why: string }
  /** A commit for which nothing is built; its check says so. */
  | { kind: 'nothing-to-build'; repository: InstallationRepository; headSha: string; why: string }
  /** A person re-requested one check, or all checks of a commit (`check` is absent). */
  | {
      kind: 'rerun';
      repository: InstallationRepository;
      headSha: string;
      branch?: string;
      check?: CheckAction;
      pullRequests: readonly PullRequest[];
      by: string;
      why: string;
    }
  /** A person used one of our buttons. Their permission has not been checked yet. */
  | {
      kind: 'press';
      repository: InstallationRepository;
      headSha: string;
      check: CheckAction;
      button: 'rollback' | 'redeploy';
      by: string;
      why: string;
    }
  /** GitHub expects the checks of a commit; `branch` is absent if it belongs to none of this repository. */
  | { kind: 'check-suite'; repository: InstallationRepository; headSha: string; branch?: string; why: string }
  | ({ kind: 'pull-request'; why: string } & PullRequest)
  | { kind: 'merge-group'; repository: InstallationRepository; headSha: string; baseBranch: string; why: string }
  /** `repositories` is absent if the change is about all that the installation reaches. */
  | {
      kind: 'installation';
      installationId: number;
      change: InstallationChange;
      repositories?: readonly InstallationRepository[];
      why: string;
    }
  /** `repository` has the new names. */
  | { kind: 'repository-renamed'; repository: InstallationRepository; why: string }
  | { kind: 'branch-deleted'; repository: InstallationRepository; branch: string; why: string }
  | { kind: 'ignore'; why: string };

/** The decision of one kind. */
export type DecisionOf<Kind extends EventDecision['kind']> = Extract<EventDecision, { kind: Kind }>;

/** Examines a pull request and puts the check `Landfall` on its head. Safe to call twice for the same head. */
export interface PullRequestExaminer {
  examine(pull: PullRequest): Promise<void>;
}

/** A handler's arguments besides the decision. */
export interface HandlerContext {
  context: AppContext;
  pullRequests: PullRequestExaminer;
  /** The delivery's GUID: the key of every cause that it is. */
  delivery: string;
}

/**
 * Carries out what an event requires. It may run again for the same delivery after a crash, so it must be idempotent.
 * @returns what was done, each as a short clause.
 */
export type Handler<Kind extends EventDecision['kind']> = (
  decision: DecisionOf<Kind>,
  handling: HandlerContext,
) => Promise<readonly string[]>;
