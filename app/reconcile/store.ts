import type { Intent, DeployRequest } from './intent.ts';
import type { RepositoryAt } from '../repository.ts';
import type { Report, ReportPut } from './report.ts';

/** What is kept of a deployment beside its intents. */
export interface DeploymentQueue {
  deploymentId: string;
  /** Pushes wait until a person presses Redeploy. */
  held?: { since: number; why: string };
  /** The commit that was rolled back last: not tried again by itself. */
  rolledBackCommit?: string;
}

/** The right to work on one deployment: writes that come after it was lost are refused. */
export interface Lease {
  deploymentId: string;
  holder: string;
  /** How many wake-ups were there when the lease was taken or last renewed. */
  notifiedSeq: number;
  /** When the last look wanted to be followed by the next (ms since the epoch): before it only what came anew matters. */
  nextAt?: number;
}

/** Somebody else works on the deployment by now: what was to be written is not. */
export class LeaseLost extends Error {
  constructor(deploymentId: string) {
    super(`another process works on deployment ${deploymentId} by now`);
    this.name = 'LeaseLost';
  }
}

/** What one step of work changes, all in one transaction. Absent fields stay. */
export interface Changes {
  /** Intents as they are from now on; where their repository lies is left as it is stored. */
  intents?: readonly Intent[];
  /** Wishes of our own: heads that were found, rollbacks. One that is known already is left out. */
  requests?: readonly DeployRequest[];
  /** `null` clears. */
  held?: DeploymentQueue['held'] | null;
  rolledBackCommit?: string | null;
  reports?: readonly ReportPut[];
}

/**
 * Where the App's work is kept. Every method is one transaction; jobs that something calls for (`lane` for a wish,
 * `report` for a report) are sent in the same one. Times are ms since the epoch.
 */
export interface WorkStore {
  /** Records a wish and wakes its lane. Undefined where (deployment, commit, cause kind and key) is known already. */
  request(request: DeployRequest): Promise<Intent | undefined>;
  /** Has the lane looked at again, now or at a time. */
  wake(deploymentId: string, at?: number): Promise<void>;

  /**
   * Takes the right to work on a deployment for `leaseMs`. Undefined where another holds it, or nothing is to be done
   * before a time to come: a job is sent for when that is over, where there is none.
   *
   * @param holder one text for each taking: whoever else takes the lease later is told apart by it.
   */
  takeLease(deploymentId: string, holder: string, leaseMs: number): Promise<Lease | undefined>;
  /** @returns the lease as it is from now on, with the wake-ups so far. @throws LeaseLost */
  renewLease(lease: Lease, leaseMs: number): Promise<Lease>;
  /** Gives the right back. False: a wake-up came in the meantime, so there is more to do and the lease is kept. */
  leaveLease(lease: Lease, again: number | undefined): Promise<boolean>;
  /** Frees every lease, and has their lanes looked at: for a process that knows that no other one works here. */
  freeLeases(): Promise<void>;

  deploymentQueue(deploymentId: string): Promise<DeploymentQueue>;
  /** Intents that have not ended, oldest first. */
  openIntents(deploymentId: string): Promise<Intent[]>;
  intent(id: string): Promise<Intent | undefined>;
  /** Every intent of a commit on a deployment, oldest first. */
  intentsOf(deploymentId: string, commit: string): Promise<Intent[]>;
  /** Every intent of a commit in a repository, whichever deployment it is on, oldest first. */
  intentsAt(repositoryId: number, commit: string): Promise<Intent[]>;
  /** The newest intents of a deployment, newest first. */
  lastIntents(deploymentId: string, limit: number): Promise<Intent[]>;
  /** The newest intents of a deployment that have a revision, newest first: what quick pushes left behind is not among them. */
  lastWithRevision(deploymentId: string, limit: number): Promise<Intent[]>;
  /**
   * Ended intents whose commit was superseded or built as another, and whose check does not say yet that it is live.
   * Oldest first.
   */
  notYetContained(deploymentId: string): Promise<Intent[]>;
  /** Deployments that have intents which have not ended. */
  busyDeployments(): Promise<string[]>;

  /** Stores what a step changed. @throws LeaseLost where the lease is no longer held; then nothing is stored. */
  save(lease: Lease, changes: Changes): Promise<void>;

  /**
   * Puts a report that belongs to no deployment's lane: a commit with nothing to deploy, a pull request.
   *
   * @param onlyAt puts it only where the stored version is this one (0: none is stored), so that what was read before
   *   does not take the place of something newer; nothing happens otherwise.
   */
  putReport(report: ReportPut, onlyAt?: number): Promise<void>;
  report(id: string): Promise<Report | undefined>;
  reportOf(repositoryId: number, headSha: string, name: string): Promise<Report | undefined>;
  /** Stores what GitHub was told. `version` is the one that was told, whatever came since. */
  reported(
    id: string,
    reported: Pick<Report, 'githubId' | 'reported'> & { version: number; at: number },
  ): Promise<void>;
  /** Reports that GitHub was not told yet. */
  pendingReports(): Promise<string[]>;

  /** The repository was renamed or moved: intents that have not ended and all reports of it take the new place. */
  moved(repository: RepositoryAt): Promise<void>;
  /** Removes the reports of a repository that GitHub was not told yet: the App has no access any more. */
  dropPendingReports(repositoryId: number): Promise<void>;
  /**
   * Removes what ended, or was told, before `before`: intents with their details, but not the `keep` newest of each
   * deployment, and told reports that no intent that stays is about.
   *
   * @returns how many rows went.
   */
  forget(before: number, keep: number): Promise<number>;
}
