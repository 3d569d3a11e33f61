import type { Ages } from './ages.ts';

/** How much of each kind was removed. */
export type Cleared = Partial<Record<keyof Ages, number>>;

/** Singular and plural. */
const words: Record<keyof Ages, readonly [string, string]> = {
  builds: ['build', 'builds'],
  mirrors: ['mirror of a repository', 'mirrors of repositories'],
  packages: ['set of installed packages', 'sets of installed packages'],
  downloads: ['folder of downloads', 'folders of downloads'],
  uploads: ['uploaded tarball', 'uploaded tarballs'],
  logs: ['line of logs', 'lines of logs'],
  runs: ['run of a tracing project', 'runs of tracing projects'],
  changes: ['entry of the audit log', 'entries of the audit log'],
};

/** Lists what was removed; undefined for nothing. */
export function inOneLine(cleared: Cleared): string | undefined {
  const parts = Object.entries(words).flatMap(([name, [one, several]]) => {
    const count = Object.entries(cleared).find(([each]) => each === name)?.[1] ?? 0;
    return count === 0 ? [] : [`${count} ${count === 1 ? one : several}`];
  });
  return parts.length === 0 ? undefined : parts.join(', ');
}
