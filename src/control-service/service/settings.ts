import type { ControlStore } from '../store/store.ts';

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
  /** Whose deployments these are. */
  tenantId: string;
  /** The service's own address as callers know it, without a slash at its end: agents' addresses begin with it. */
  baseUrl: () => string;
  /** The folders that `repo_url` may name one below of: absolute paths. */
  allowGit: readonly string[];
}
