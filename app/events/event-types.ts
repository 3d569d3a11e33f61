import type { AppContext } from '../context.ts';
import type { ParsedComment } from '../../src/deploy/commands/parse.ts';
import type { CheckContent, InstallationRepository } from '../github/github-api.ts';

/** The check run on which a person requested an action. `externalId` is the id of our report. */
interface CheckAction {
  name: string;
  externalId: string | undefined;
}

/** An open pull request of an event. Its head is untrusted. */
export interface PullRequest {
  repository: InstallationRepository;
  number: number;
  headSha: string;
  baseBranch: string;
  /** Whether the head is in another repository, which may have been deleted. */
  fork: boolean;
}

/** How the repositories of an installation changed. */
export type InstallationChange = 'added' | 'removed' | 'suspended' | 'resumed';

/** A command as it was given in a comment on a pull request. */
export interface GivenCommand {
  number: number;
  commentId: number;
  by: { login: string; id: number };
  parsed: Exclude<ParsedComment, { kind: 'none' }>;
  isLocked: boolean;
  /** ms since the epoch, by GitHub's clock */
  writtenAt?: number;
}

interface OfRepository {
  repository: InstallationRepository;
}
interface OfCommit extends OfRepository {
  headSha: string;
}

interface Decisions {
  /** A branch was pushed: read its head. */
  push: OfRepository & { branch: string; after: string; by?: string };
  /** A commit for which nothing is built; its check says so. */
  'nothing-to-build': OfCommit;
  /** A person re-requested one check, or all checks of a commit (`check` is absent). */
  rerun: OfCommit & { branch?: string; check?: CheckAction; pullRequests: readonly PullRequest[]; by: string };
  /** A person used one of our buttons. Their permission has not been checked yet. */
  press: OfCommit & { check: CheckAction; button: 'rollback' | 'redeploy' | 'promote' | 'approve'; by: string };
  /** GitHub expects the checks of a commit; `branch` is absent if it belongs to none of this repository. */
  'check-suite': OfCommit & { branch?: string };
  /** A check of a commit has changed, or several of them where there is no name. */
  'checks-changed': OfCommit & { check?: string };
  'pull-request': PullRequest;
  /** Something that its preview depends on may have changed. */
  preview: OfRepository & { number: number };
  'merge-group': OfCommit & { baseBranch: string };
  /** A person gave a command. Nothing of them has been checked yet. */
  command: OfRepository & GivenCommand;
  /** `repositories` is absent if the change affects all repositories of the installation. */
  installation: {
    installationId: number;
    change: InstallationChange;
    repositories?: readonly InstallationRepository[];
  };
  /** `repository` has the new names. */
  'repository-renamed': OfRepository;
  'branch-deleted': OfRepository & { branch: string };
  ignore: object;
}

/** The decision of one kind. `why` is a clause without a full stop. */
export type DecisionOf<Kind extends keyof Decisions> = {
  [Each in Kind]: { kind: Each; why: string } & Decisions[Each];
}[Kind];
/** What an event requires. Stored as JSON with the delivery. */
export type EventDecision = DecisionOf<keyof Decisions>;

/** Examines a pull request and puts the check `Landfall` on its head. Safe to call twice for the same head. */
export interface PullRequestExaminer {
  examine(pull: PullRequest): Promise<void>;
  /** What merging a pull request would do, as its check says it; writes nothing. */
  plan(pull: PullRequest): Promise<CheckContent>;
}

/** A handler's arguments besides the decision. */
export interface HandlerContext {
  context: AppContext;
  pullRequests: PullRequestExaminer;
  /** The delivery's GUID, which is the key of the causes that it creates. */
  delivery: string;
}

/**
 * Carries out what an event requires. It may run again for the same delivery after a crash, so it must be idempotent.
 * @returns what was done, each as a short clause.
 */
export type Handler<Kind extends keyof Decisions> = (
  decision: DecisionOf<Kind>,
  handling: HandlerContext,
) => Promise<readonly string[]>;
