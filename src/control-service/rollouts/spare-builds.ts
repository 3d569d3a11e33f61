import { basename } from 'node:path';
import { hasEnded } from '../rules/revision-states.ts';
import type { RevisionRecord } from '../store/tables.ts';

/** How many builds of a deployment stay on the disk for a quick way back, besides the one that is live. */
export const buildsKept = 4;

/** A revision as far as its build goes. */
export type BuiltRevision = Pick<RevisionRecord, 'id' | 'status' | 'build_folder'>;

/** The ids of builds that may be removed: neither live, nor on their way, nor among the newest. */
export function spareBuilds(revisions: readonly BuiltRevision[], activeRevisionId: string | null): string[] {
  const inUse = new Set<string>();
  const others = new Set<string>();
  for (const { id, status, build_folder } of revisions) {
    if (build_folder === null) continue;
    if (id === activeRevisionId || !hasEnded(status)) inUse.add(basename(build_folder));
    else others.add(basename(build_folder));
  }
  return [...others].filter((build) => !inUse.has(build)).slice(buildsKept);
}
