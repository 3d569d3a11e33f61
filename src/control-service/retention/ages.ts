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

/** The interval of the retention job (ms). */
export const lookEveryMs = hour;

/** Where the disk is nearly full, what was used within this time (ms) still stays. */
export const inUseMs = hour;

const days = (ms: number): string => `${ms / day} ${ms === day ? 'day' : 'days'}`;

/** The table of docs/design/retention-and-data-folder.md. */
export const agesInWords: readonly string[] = [
  '| what | kept | removed |',
  '|---|---|---|',
  `| builds | those of revisions that are live or in progress, of the last ${ages.builds.live} that were live, and the ${ages.builds.newest} newest others | after ${days(ages.builds.ms)}; of more than ${ages.builds.most} the oldest at once |`,
  `| log lines | those of live revisions | after ${days(ages.logs.ms)} |`,
  `| uploaded tarballs | those of revisions that are live or in progress | after ${days(ages.uploads.ms)} |`,
  `| mirrors of repositories | | ${days(ages.mirrors.ms)} after the last build that used them |`,
  `| installed packages | | ${days(ages.packages.ms)} after the last build that used them |`,
  `| downloads of package managers | | ${days(ages.downloads.ms)} after the last build that used them |`,
  `| runs of tracing projects | | ${days(ages.runs.ms)} after they ended |`,
  `| the audit log | | after ${days(ages.changes.ms)} |`,
];
