import type { Actor } from '../store/audit.ts';
import type { ReusedBuild } from '../store/records.ts';
import type { CauseKind, RevisionRecord } from '../store/tables.ts';

/** The cause of a new revision, and who caused it. */
export interface Cause {
  kind: Exclude<CauseKind, 'unknown'>;
  by: Actor;
}

/** The kind of a redeploy: a rollback, unless that revision or its build is the latest or the live one. */
export function redeployKind(
  { redeploy_of, build_folder }: Pick<ReusedBuild, 'redeploy_of' | 'build_folder'>,
  latestAndLive: readonly Pick<RevisionRecord, 'id' | 'build_folder'>[],
): 'redeploy' | 'rollback' {
  const isCurrent = latestAndLive.some(
    (current) => current.id === redeploy_of || (build_folder !== null && current.build_folder === build_folder),
  );
  return isCurrent ? 'redeploy' : 'rollback';
}

/** The columns that store a cause. */
export const causeColumns = ({ kind, by }: Cause) => ({
  cause: kind,
  cause_actor: by.kind,
  cause_key_id: by.kind === 'key' ? by.keyId : null,
  cause_key_name: by.kind === 'key' ? by.keyName : null,
});
