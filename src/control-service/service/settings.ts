import type { Clock } from '../../clock.ts';
import type { WorkBell } from '../listeners/work-bell.ts';
import type { Integrations } from '../integrations/integrations.ts';
import type { Actor } from '../store/audit.ts';
import type { Registry } from '../registry/registry.ts';
import type { Hosting } from '../rules/hosting.ts';
import type { ChangeBell } from '../logs/change-bell.ts';
import type { ControlStore } from '../store/store.ts';
import type { Tracing } from '../tracing/tracing.ts';
import type { Uploads } from '../uploads/uploads.ts';

/** What the service tells those who carry revisions out. */
export interface Rollouts {
  /** The deployment has a revision to be carried out, or one less. Returns at once. */
  wake(deploymentId: string): void;
  /** The revision was interrupted: whatever is at it lets go of it. Returns at once. */
  interrupted(deploymentId: string, revisionId: string): void;
}

/** What the control service stands on, for one tenant. */
export interface ServiceSettings {
  store: ControlStore;
  rollouts: Rollouts;
  /** Rung where there may be work for a listener; without it those who wait look once a second. */
  bell?: WorkBell;
  /** Rung where there may be more of a log; without it those who follow one are told once every 15 s. */
  logBell?: ChangeBell;
  /** What those who follow a log measure silence by; the machine's own time when absent. */
  clock?: Clock;
  /** Whose deployments these are. */
  tenantId: string;
  /** Who asks, for the record of changes; the service itself when absent. */
  by?: Actor | undefined;
  /** The service's own address as callers know it, without a slash at its end: agents' addresses begin with it. */
  baseUrl: () => string;
  /** The folders that `repo_url` may name one below of: absolute paths. */
  allowGit: readonly string[];
  /** Where the service says that it runs, which decides what sources there are; `any` when absent. */
  hosting?: Hosting | undefined;
  /**
   * Whether an `internal_source` deployment may be created without `graph_config_path`, to be named with the first upload, as
   * public clients do against control-service.md; `false` when absent.
   */
  graphConfigLater?: boolean | undefined;
  /** What asks GitHub for integrations; without it those that are remembered are told. */
  integrations?: Integrations | undefined;
  /** What lets agents tell of their runs; without it those that listeners run do not. */
  tracing?: Tracing | undefined;
  /** What takes source tarballs in; without it there are no addresses for them. */
  uploads?: Uploads | undefined;
  /** The image registry that push tokens are for. */
  registry?: Registry | undefined;
}
