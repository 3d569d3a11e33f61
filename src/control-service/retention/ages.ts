const hour = 3_600_000;
const day = 24 * hour;

/** What is kept how long: all of it in this one table. Times in milliseconds. */
export const ages = {
  /**
   * Builds. Those that are live or on their way stay, and those that the `live` newest of the revisions which ever were
   * live are made of; so do the `newest` others. Of the rest go those that are older than `ms`, and of a deployment with
   * more of them than `most` the oldest at once.
   */
  builds: { live: 5, newest: 4, most: 20, ms: day },
  /** Lines of build and deploy logs, by when they were written; a live revision keeps its own. */
  logs: { ms: 30 * day },
  /** Uploaded tarballs, by when they were stored; one that a live revision, or one on its way, is made of stays. */
  uploads: { ms: 30 * day },
  /** Mirrors of repositories, by when a build used them last. */
  mirrors: { ms: 14 * day },
  /** Installed packages of a lock file, by when a build used them last. */
  packages: { ms: 14 * day },
  /** What package managers downloaded, by when a build used it last. */
  downloads: { ms: 14 * day },
  /** Runs of tracing projects, by when they ended. */
  runs: { ms: 90 * day },
  /** The record of who changed what, by when it was changed. */
  changes: { ms: 365 * day },
} as const;

export type Ages = { [Name in keyof typeof ages]: { [Field in keyof (typeof ages)[Name]]: number } };

/** How often it is looked for what is old (ms). */
export const lookEveryMs = hour;

/** What is cleared away early where the disk is short of space is not spared when it was used this long ago (ms). */
export const inUseMs = hour;

const days = (ms: number): string => `${ms / day} ${ms === day ? 'day' : 'days'}`;

/** The table as the README shows it. */
export const agesInWords: readonly string[] = [
  '| what | stays | goes |',
  '|---|---|---|',
  `| builds | live ones, those on their way, those of the ${ages.builds.live} revisions that were live last, the ${ages.builds.newest} newest others | after ${days(ages.builds.ms)}; of more than ${ages.builds.most} the oldest at once |`,
  `| lines of logs | those of live revisions | after ${days(ages.logs.ms)} |`,
  `| uploaded tarballs | those that a live revision, or one on its way, is made of | after ${days(ages.uploads.ms)} |`,
  `| mirrors of repositories | | ${days(ages.mirrors.ms)} after the last build that used them |`,
  `| installed packages | | ${days(ages.packages.ms)} after the last build that used them |`,
  `| downloads of package managers | | ${days(ages.downloads.ms)} after the last build that used them |`,
  `| runs of tracing projects | | ${days(ages.runs.ms)} after they ended |`,
  `| the record of changes | | after ${days(ages.changes.ms)} |`,
];
