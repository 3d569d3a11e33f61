import type { Check as CheckContent, CheckKey } from '../../src/github/check.ts';
import type { DeploymentKey, GitHubDeployment as DeploymentContent } from '../../src/github/deployment.ts';

/** A repository as one installation of the App reaches it. The id stays when the repository is renamed or moved. */
export interface InstallationRepository {
  installationId: number;
  repositoryId: number;
  owner: string;
  name: string;
}

/** `owner/name`, as people say it. */
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
  /** `paths` holds every changed path, the former name of a renamed one among them. */
  | { kind: 'ahead'; paths: readonly string[] }
  | { kind: 'identical' }
  /**
   * The list is incomplete, the commits diverged or are in the wrong order, or one of them is unknown. `contains` says
   * whether the second contains the first, if known.
   */
  | { kind: 'unavailable'; why: string; contains?: boolean };

/** What a person may do in a repository; `none` for strangers. */
export type Permission = 'admin' | 'write' | 'read' | 'none';

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

/** GitHub's refusal or failure, with the request and no token. `status` is absent if no response arrived. */
export class GitHubApiError extends Error {
  readonly status: number | undefined;
  /** Whether the request may have taken effect all the same. */
  readonly effect: 'none' | 'unknown';
  constructor(message: string, status: number | undefined, effect: 'none' | 'unknown') {
    super(message);
    this.name = 'GitHubApiError';
    this.status = status;
    this.effect = effect;
  }
}

/** The repository or its installation is gone, or the App may not see it: trying again does not help. */
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
  permissionOf(at: InstallationRepository, login: string): Promise<Permission>;

  /** Writes the check run, found by `externalId` where `id` is not known. @returns its id. */
  writeCheck(at: InstallationCheckKey, id: number | undefined, content: CheckContent): Promise<number>;
  /** Makes the deployment where `id` is not known and none has this `externalId`. @returns its id. */
  makeDeployment(at: InstallationDeploymentKey, content: DeploymentContent): Promise<number>;
  writeDeploymentStatus(at: InstallationDeploymentKey, id: number, content: DeploymentContent): Promise<void>;
}
