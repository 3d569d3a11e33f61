import type { Permission } from '../../src/deploy/commands/outcomes.ts';
import type { Check as CheckContent, CheckKey } from '../../src/github/check.ts';
import type { DeploymentKey, GitHubDeployment as DeploymentContent } from '../../src/github/deployment.ts';

/** A repository of an installation. Its id stays the same when it is renamed or moved. */
export interface InstallationRepository {
  installationId: number;
  repositoryId: number;
  owner: string;
  name: string;
}

/** Formats a repository as `owner/name`. */
export const fullName = ({ owner, name }: Pick<InstallationRepository, 'owner' | 'name'>): string => `${owner}/${name}`;

/** The newest commit of a branch. */
export interface Head {
  sha: string;
  message: string;
  /** When it was committed (ms since the epoch). */
  committedAt: number;
}

/** The changes between two commits, as far as GitHub lists them. */
export type Comparison =
  /** `paths` has every changed path, including the previous name of a renamed one. */
  | { kind: 'ahead'; paths: readonly string[] }
  | { kind: 'identical' }
  /**
   * The list is incomplete, the commits diverged or are in the wrong order, or one of them is unknown. `contains` says
   * whether the second contains the first, if known.
   */
  | { kind: 'unavailable'; why: string; contains?: boolean };

/** A pull request of a repository. */
export interface PullRequestKey {
  repository: InstallationRepository;
  number: number;
}

/** A pull request as GitHub has it now. */
export interface PullRequestState {
  headSha: string;
  /** Plain name; absent if the head is in another repository, which may have been deleted. */
  headBranch?: string;
  baseBranch: string;
  isOpen: boolean;
  isMerged: boolean;
  labels: readonly string[];
  /** The plain name of the head's branch, in whichever repository. */
  headRef: string;
  /** Whether the head is in another repository. */
  isFork: boolean;
  /** The web addresses of the repository and of that of the head, which may have been deleted. */
  repositoryUrl: string;
  headUrl?: string;
}

/** A sign on a comment that people see at once. */
export type Reaction = 'eyes' | '+1' | 'confused';

/** A check run or a commit status as it stands. A status does not say which App made it. */
export interface CommitCheck {
  name: string;
  state: 'pending' | 'passed' | 'failed';
  appId?: number;
}

/** A check that a branch requires; `appId`: of this App. */
export type BranchCheck = Pick<CommitCheck, 'name' | 'appId'>;

/** The checks of a commit. `isUnread`: its commit statuses could not be read, for want of a permission. */
export interface CommitChecks {
  seen: readonly CommitCheck[];
  isUnread?: true;
}

/** A team that may review deploys. */
export interface ReviewerTeam {
  organisation: string;
  slug: string;
}

/** What GitHub requires of deploys to an environment. */
export interface EnvironmentProtection {
  waitMinutes: number;
  /** Absent: every branch may be deployed. */
  branches?: { kind: 'protected'; isProtected: boolean } | { kind: 'patterns'; patterns: readonly string[] };
  reviewers?: { users: readonly string[]; teams: readonly ReviewerTeam[]; preventsSelfReview: boolean };
  /** Rules that others decide, or that are not known. */
  unknown: string[];
}

/** `none`: there is no such environment. `unread`: the App may not read it, for want of a permission. */
export type ProtectionRead = { kind: 'none' | 'unread' } | { kind: 'protected'; protection: EnvironmentProtection };

/** The wanted state of a check run and a GitHub Deployment, shared by the Action and the App. */
export type { Check as CheckContent, Annotation as CheckAnnotation } from '../../src/github/check.ts';
export type { GitHubDeployment as DeploymentContent } from '../../src/github/deployment.ts';

/** A check run or deployment in a repository that an installation of the App reaches. */
export type InstallationCheckKey = CheckKey & { repository: InstallationRepository };
export type InstallationDeploymentKey = DeploymentKey & { repository: InstallationRepository };

/** GitHub rate-limits this installation: nothing is sent for it before `until` (ms since the epoch). */
export class InstallationPaused extends Error {
  readonly installationId: number;
  readonly until: number;
  constructor(installationId: number, until: number, why: string) {
    super(`GitHub paused installation ${installationId} until ${new Date(until).toISOString()}: ${why}`);
    this.name = 'InstallationPaused';
    this.installationId = installationId;
    this.until = until;
  }
}

/** A refusal or failure of GitHub. The message names the request without its token. No `status` without a response. */
export class GitHubApiError extends Error {
  readonly status: number | undefined;
  /** Whether the request may have taken effect nevertheless. */
  readonly effect: 'none' | 'unknown';
  constructor(message: string, status: number | undefined, effect: 'none' | 'unknown') {
    super(message);
    this.name = 'GitHubApiError';
    this.status = status;
    this.effect = effect;
  }
}

/** The repository or its installation is gone, or the App may not see it: retrying does not help. */
export class RepositoryLost extends GitHubApiError {
  constructor(place: string, { status, effect }: GitHubApiError) {
    super(`${place} is not there, or the App is not installed on it`, status, effect);
    this.name = 'RepositoryLost';
  }
}

/** A file exceeds the size limit: retrying does not help. */
export class FileTooLarge extends GitHubApiError {
  /** A clause without a full stop. */
  readonly why: string;
  constructor(path: string, place: string, size: number, limit: number) {
    const why = `it has ${size} bytes, and at most ${limit} are read`;
    super(`${path} of ${place} is too large: ${why}`, undefined, 'none');
    this.name = 'FileTooLarge';
    this.why = why;
  }
}

/**
 * The App's GitHub client. Every call uses a fresh installation token. It fails with `GitHubApiError`, or with
 * `InstallationPaused` while GitHub rate-limits the installation; what does not exist is a value.
 */
export interface GitHubApi {
  /** The newest commit of a branch; undefined if there is no such branch. */
  head(at: InstallationRepository, branch: string): Promise<Head | undefined>;
  compare(at: InstallationRepository, base: string, head: string): Promise<Comparison>;
  /** A text file at a commit or branch; undefined if there is none. @throws FileTooLarge above 1 MB */
  file(at: InstallationRepository, path: string, ref: string): Promise<string | undefined>;
  defaultBranch(at: InstallationRepository): Promise<string>;
  /** The check runs and commit statuses of a commit, of each name and App the newest. */
  checksOf(at: InstallationRepository, commit: string): Promise<CommitChecks>;
  /** The checks that a branch requires before anything is merged into it, by its rules and its protection. */
  requiredChecks(at: InstallationRepository, branch: string): Promise<readonly BranchCheck[]>;
  /** The protection of an environment for deploys of a branch. */
  environmentProtection(at: InstallationRepository, environment: string, branch: string): Promise<ProtectionRead>;
  /** Whether a person is in a team; `unread`: the App has no permission to know. */
  membershipOf(at: InstallationRepository, team: ReviewerTeam, login: string): Promise<'member' | 'other' | 'unread'>;
  /** The logins of those who wrote a commit, as far as GitHub knows them. */
  peopleOf(at: InstallationRepository, commit: string): Promise<readonly string[]>;
  /** `none` as well if the login belongs to another person than `userId` by now. */
  permissionOf(at: InstallationRepository, login: string, userId?: number): Promise<Permission>;
  /** Undefined if there is no such pull request. */
  pullRequest(at: PullRequestKey): Promise<PullRequestState | undefined>;

  /** Writes the check run; finds it by `externalId` if `id` is unknown. @returns its id. */
  writeCheck(at: InstallationCheckKey, id: number | undefined, content: CheckContent): Promise<number>;
  /** Creates the deployment unless one has this `externalId`. @returns its id. */
  makeDeployment(at: InstallationDeploymentKey, content: DeploymentContent): Promise<number>;
  writeDeploymentStatus(at: InstallationDeploymentKey, id: number, content: DeploymentContent): Promise<void>;
  /**
   * Edits the App's comment on a pull request, or creates it: it is found by `id`, else by its mark and its author.
   * @returns its id.
   */
  writeComment(at: PullRequestKey, id: number | undefined, body: string): Promise<number>;
  /** Reacts to a comment; a reaction that is there already stays one. */
  react(at: InstallationRepository, commentId: number, reaction: Reaction): Promise<void>;
}
