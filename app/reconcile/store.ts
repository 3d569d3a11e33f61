import type { BaselineRequest } from '../../src/contract/control/baseline.ts';
import type { CommandStore } from '../commands/stored-command.ts';
import type { Intent } from './intent.ts';
import type { DeployRequest } from './deploy-request.ts';
import type { InstallationRepository } from '../github/github-api.ts';
import type { Report, DesiredReport } from './report.ts';

/** A deployment's stored state besides its intents. */
export interface DeploymentQueue {
  deploymentId: string;
  /** Pushes wait until a person presses Redeploy. */
  held?: { since: number; commit?: string | undefined };
  /** The commit that was rolled back last: not retried automatically. */
  rolledBackCommit?: string;
  /** The id of the intent whose revision is proven, and not requested of the next environment yet. */
  promotes?: string;
}

/** The right to work on one deployment: writes after its loss are refused. */
export interface Lease {
  deploymentId: string;
  holder: string;
  /** The number of notifications when the lease was taken or last renewed. */
  notifiedSeq: number;
  /** When the last pass scheduled the next (ms since the epoch): until then only new requests matter. */
  nextAt?: number;
}

/** Another process holds the deployment's lease by now: nothing was written. */
export class LeaseLost extends Error {
  constructor(deploymentId: string) {
    super(`another process works on deployment ${deploymentId} by now`);
    this.name = 'LeaseLost';
  }
}

/** What a smoke test measured of a revision: no text, but the names of nodes and tools. */
export interface Baseline extends BaselineRequest {
  revisionId: string;
  /** `hashOfTest` of what the test sends and expects. */
  testHash: string;
  /** ms since the epoch */
  takenAt: number;
}

/** The most baselines of a deployment; those that were taken first are removed. */
export const maxBaselines = 100;

/** What changes of a deployment besides its intents. Absent fields stay; `null` clears. */
export interface QueueChanges {
  held?: DeploymentQueue['held'] | null;
  rolledBackCommit?: string | null;
  promotes?: string | null;
}

/** What one step of work changes, all in one transaction. */
export interface Changes extends QueueChanges {
  /** Intents as they are from now on; where their repository lies is left as it is stored. */
  intents?: readonly Intent[];
  /** Our own requests: heads that were found, rollbacks. Known ones are skipped. */
  requests?: readonly DeployRequest[];
  reports?: readonly DesiredReport[];
  /** Each takes the place of an earlier one of its test on its revision. */
  baselines?: readonly Baseline[];
}

/**
 * The store of the App's work. Every method is one transaction, which also sends the jobs it requires (to reconcile
 * a deploy request, or to send a report). Times are ms since the epoch.
 */
export interface WorkStore extends CommandStore {
  /** Records a request and notifies its queue. Undefined if (deployment, commit, cause kind and key) is known. */
  request(request: DeployRequest): Promise<Intent | undefined>;
  /** Notifies the queue, now or at a time. */
  wake(deploymentId: string, at?: number): Promise<void>;

  /**
   * Takes the deployment's lease for `leaseMs`. Undefined if it is held, or nothing is due yet: then a job is scheduled
   * for that time, unless there is one. `holder` is unique for each call.
   */
  takeLease(deploymentId: string, holder: string, leaseMs: number): Promise<Lease | undefined>;
  /** @returns the lease as it is from now on, with the notifications so far. @throws LeaseLost */
  renewLease(lease: Lease, leaseMs: number): Promise<Lease>;
  /** Releases the lease. False: a notification arrived in the meantime, so the lease is kept. */
  leaveLease(lease: Lease, again: number | undefined): Promise<boolean>;
  /** Frees every lease and notifies those queues. Only for a process that is the only one on this database. */
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
  /** The newest intents of a deployment that have a revision, newest first. */
  lastWithRevision(deploymentId: string, limit: number): Promise<Intent[]>;
  /** Intents whose commit was superseded or built as another, and is not marked as live yet, oldest first. */
  notYetContained(deploymentId: string): Promise<Intent[]>;
  /** What these tests, by their hashes, measured of a revision. */
  baselines(deploymentId: string, revisionId: string, testHashes: readonly string[]): Promise<Baseline[]>;
  /** Deployments that have intents which have not ended. */
  busyDeployments(): Promise<string[]>;

  /** Stores a step's changes. @throws LeaseLost if the lease is no longer held; then nothing is stored. */
  save(lease: Lease, changes: Changes): Promise<void>;

  /** Stores a report that belongs to no deployment; with `onlyAt` only if that is the stored version (0: none). */
  putReport(report: DesiredReport, onlyAt?: number): Promise<void>;
  report(id: string): Promise<Report | undefined>;
  reportOf(repositoryId: number, headSha: string, name: string): Promise<Report | undefined>;
  /** Stores what was sent to GitHub. `version` is the one that was sent, even if a newer one exists. */
  reported(
    id: string,
    reported: Pick<Report, 'githubId' | 'reported'> & { version: number; at: number },
  ): Promise<void>;
  /** Reports that were not sent to GitHub yet. */
  pendingReports(): Promise<string[]>;

  /** The repository was renamed or moved: updates its open intents and all its reports. */
  moved(repository: InstallationRepository): Promise<void>;
  /** Removes the unsent reports of a repository that the App can no longer access. */
  dropPendingReports(repositoryId: number): Promise<void>;
  /**
   * Removes what ended, was sent or was taken before `before`: intents, except the `keep` newest of each deployment, and
   * reports and baselines without a remaining intent, and commands. @returns how many rows went.
   */
  forget(before: number, keep: number): Promise<number>;
}
