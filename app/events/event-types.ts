import type { RepositoryAt } from '../repository.ts';

/** The check run that a person pressed something on. `externalId` is the id of our report. */
export interface CheckAction {
  name: string;
  externalId: string | undefined;
}

/** An open pull request, as an event names it. Nothing of its head is to be trusted. */
export interface PullRequestAt {
  repository: RepositoryAt;
  number: number;
  headSha: string;
  baseBranch: string;
  /** Whether the head lies in another repository. One that was deleted counts as another. */
  fork: boolean;
}

/** The buttons that our checks have. */
export type RequestedAction = 'rollback' | 'redeploy';

/** What became of an installation's reach. */
export type InstallationChange = 'added' | 'removed' | 'suspended' | 'resumed';

/**
 * What an event asks for. `why` is one clause without a full stop, fit to show and to log. It is stored as JSON with
 * the delivery.
 */
export type EventDecision =
  /** A branch was pushed: where its head stands is to be read. */
  | { kind: 'push'; repository: RepositoryAt; branch: string; after: string; why: string }
  /** A commit that nothing is built of, and that is told so. */
  | { kind: 'nothing-to-build'; repository: RepositoryAt; headSha: string; why: string }
  /** A person asks for one check again, or for all of a commit's (`check` is absent). */
  | {
      kind: 'rerun';
      repository: RepositoryAt;
      headSha: string;
      branch?: string;
      check?: CheckAction;
      pullRequests: readonly PullRequestAt[];
      by: string;
      why: string;
    }
  /** A person pressed a button of ours. What they may do is to be asked for. */
  | {
      kind: 'press';
      repository: RepositoryAt;
      headSha: string;
      check: CheckAction;
      button: RequestedAction;
      by: string;
      why: string;
    }
  /** GitHub expects the checks of a commit; `branch` is absent where it belongs to none of this repository. */
  | { kind: 'check-suite'; repository: RepositoryAt; headSha: string; branch?: string; why: string }
  | ({ kind: 'pull-request'; why: string } & PullRequestAt)
  | { kind: 'merge-group'; repository: RepositoryAt; headSha: string; baseBranch: string; why: string }
  /** `repositories` is absent where the change is about all that the installation reaches. */
  | {
      kind: 'installation';
      installationId: number;
      change: InstallationChange;
      repositories?: readonly RepositoryAt[];
      why: string;
    }
  /** `repository` has the new names. */
  | { kind: 'repository-renamed'; repository: RepositoryAt; why: string }
  | { kind: 'branch-deleted'; repository: RepositoryAt; branch: string; why: string }
  | { kind: 'ignore'; why: string };

/** The decision of one kind. */
export type DecisionOf<Kind extends EventDecision['kind']> = Extract<EventDecision, { kind: Kind }>;
