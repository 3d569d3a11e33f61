import { backoffMs, type Clock } from '../../src/kit/clock.ts';
import type { Logger } from '../../src/kit/logger.ts';
import type { AgentServer, ConversationServer } from '../../src/contract/agent/service.ts';
import type { Graders } from '../../src/contract/grader.ts';
import type { Deployment } from '../../src/contract/control/deployment.ts';
import type { ControlService } from '../../src/contract/control/service.ts';
import type { DesiredDeployment } from '../../src/deploy/file/desired.ts';
import type { Judge } from '../../src/deploy/smoke/judge.ts';
import type { UploadAndDeleteService } from '../../src/deploy/machine/deploy-run.ts';
import type { GitHubApi, InstallationRepository } from '../github/github-api.ts';
import type { ReportLocks } from '../reporting/send-report.ts';
import type { DeployFile } from '../targets/file-entries.ts';
import type { Installed } from './installed.ts';
import type { PreviewRun, PreviewStore } from './preview-store.ts';

/** The dependencies of previews. */
export interface PreviewContext {
  clock: Clock;
  random: () => number;
  previews: PreviewStore;
  githubApi: Pick<GitHubApi, 'pullRequest'>;
  control: ControlService & UploadAndDeleteService;
  /** The base address of the service, which receipts name. */
  serviceAddress: string;
  agentAt: (url: string) => AgentServer;
  /** The same for conversations; absent: none are tried. */
  threadsAt?: ((url: string) => ConversationServer) | undefined;
  /** The models that grade the answers of a preview, with the keys among its secrets. The caller closes them. */
  gradersOf: (preview: DesiredDeployment) => Graders & { close(): Promise<void> };
  /** Judges the answers of previews: they are untrusted, and so are the expectations. */
  judge: Judge;
  /** The id of a repository in names and marks of previews, by `repositoryIdOn`. */
  hostedIdOf: (repositoryId: number) => number;
  /** The repositories that the App reaches. */
  installed: Installed;
  /** The deploy file of the repository's default branch: never that of a pull request. */
  deployFile: (repository: InstallationRepository) => Promise<DeployFile>;
  /** The value that the operator has for a variable which a repository's file names for its previews. */
  secretOf: (repository: InstallationRepository, variable: string) => string | undefined;
  /** Why a repository may not act on a deployment, as a clause; undefined if it may. */
  refusalOf: (repository: InstallationRepository, deployment: Deployment) => string | undefined;
  /** One look at a pull request, and one run of a preview, at a time in all processes. */
  locks: ReportLocks;
  log: Logger;
  /** Aborts on shutdown: runs stop, and the next process goes on with them. */
  leaving: AbortSignal;
  /** Values that no text may show, besides the secrets of previews. */
  credentials: readonly string[];
}

/** What a run of a preview works with. */
export interface RunContext extends PreviewContext {
  run: PreviewRun;
  /** Aborts when a newer version is wanted, when another process goes on, and on shutdown. */
  signal: AbortSignal;
}

/** How long until the service is tried again (ms). */
export const retryAfterMs = (failures: number): number => backoffMs(failures, 5_000, 60_000);
