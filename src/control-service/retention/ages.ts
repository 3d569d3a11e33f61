const hour = 3_600_000;
const day = 24 * hour;

/** All retention times, in milliseconds. */
export const ages = {
  /**
   * Builds. Keeps those of revisions that are live or in progress, those of the last `live` revisions that were live, and
   * the `newest` others. Removes the rest after `ms`; of more than `most` in a deployment, the oldest at once.
   */
  builds: { live: 5, newest: 4, most: 20, ms: day },
  /** Lines of build and deploy logs, by the time of writing; a live revision keeps its own. */
  logs: { ms: 30 * day },
  /** Uploaded tarballs, by the time of the upload; those of revisions that are live or in progress stay. */
  uploads: { ms: 30 * day },
  /** Mirrors of repositories, by their last use. */
  mirrors: { ms: 14 * day },
  /** Installed packages of a lock file, by their last use. */
  packages: { ms: 14 * day },
  /** Downloads of package managers, by their last use. */
  downloads: { ms: 14 * day },
  /** Runs of tracing projects, by their end. */
  runs: { ms: 90 * day },
  /** The audit log, by the time of the change. */
  changes: { ms: 365 * day },
} as const;

export type Ages = { [Name in keyof typeof ages]: { [Field in keyof (typeof ages)[Name]]: number } };

export const retentionIntervalMs = hour;

/** Where the disk is nearly full, what was used within this time (ms) still stays. */
export const inUseMs = hour;
