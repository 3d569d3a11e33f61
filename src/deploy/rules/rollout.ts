import type { Revision } from '../../contract/control/revision.ts';
import { classOfRevisionStatus } from '../../contract/control/revision-status.ts';
import { holdStateOf } from './hold-state.ts';
import type { EndedRollout, Rollout } from './rollout-types.ts';

/** What one look at a revision that is followed brought back. */
export interface RevisionObservation {
  /** ms since the epoch */
  at: number;
  revision: Pick<
    Revision,
    'status' | 'status_message' | 'source_revision_config' | 'created_at' | 'hold' | 'build_warnings'
  >;
  /** The active revision according to the deployment. Read only for a finished revision, absent otherwise. */
  deployment?: {
    activeRevisionId: string | null;
    latestRevisionId: string | null;
    /** When the active revision was made, if it is another one and the service reports it. */
    activeCreatedAt?: string | undefined;
  };
}

/**
 * The rollout's state after one more observation. A revision is live if it is DEPLOYED *and* the deployment's active
 * one (docs/design/contract.md#deployments: `active_revision_id`). An unknown status is waited on. A final state stays.
 */
export function rolloutAfter(state: Rollout, observation: RevisionObservation): Rollout {
  if (state.kind !== 'in-progress') return state;
  const { status, status_message, source_revision_config } = observation.revision;
  const builtCommit = source_revision_config.repo_commit_sha ?? state.builtCommit;
  const statusMessage = status_message ?? state.statusMessage;
  const buildWarnings = observation.revision.build_warnings ?? state.buildWarnings;
  const hold = holdStateOf(observation.revision);
  const by = newestOther(state.revisionId, observation);
  const known = {
    revisionId: state.revisionId,
    seen: state.seen.at(-1)?.status === status ? state.seen : [...state.seen, { status, at: observation.at }],
    ...(builtCommit ? { builtCommit } : {}),
    ...(statusMessage ? { statusMessage } : {}),
    ...(buildWarnings?.length ? { buildWarnings } : {}),
    ...(hold.kind === 'none' ? {} : { hold }),
  };
  switch (classOfRevisionStatus(status)) {
    case 'failed':
      return { kind: 'failed', status, ...known };
    case 'interrupted':
      return { kind: 'interrupted', ...known };
    case 'superseded':
      return { kind: 'superseded', ...known, ...(by ? { by } : {}) };
    case 'live':
      return finished(state.revisionId, known, observation);
    default:
      return { kind: 'in-progress', ...known };
  }
}

/** The end of a wait that brought none: what the service is doing goes on without us. */
export function rolloutOutOfTime(state: Rollout): EndedRollout {
  if (state.kind !== 'in-progress') return state;
  return { ...state, kind: 'timed-out' };
}

type ProgressFields = Omit<Extract<Rollout, { kind: 'in-progress' }>, 'kind'>;

/** A finished revision is live, or about to be, or a newer one has taken its place already. */
function finished(revisionId: string, known: ProgressFields, observation: RevisionObservation): Rollout {
  const active = observation.deployment?.activeRevisionId;
  if (active === revisionId) return { kind: 'live', ...known };
  return active && isNewer(active, observation)
    ? { kind: 'superseded', ...known, by: active }
    : { kind: 'in-progress', ...known };
}

/** Whether the active revision is newer than the followed one: an older one may only be waiting for the switch. */
function isNewer(active: string, { deployment, revision }: RevisionObservation): boolean {
  if (deployment?.latestRevisionId === active) return true;
  const [ours, theirs] = [Date.parse(revision.created_at ?? ''), Date.parse(deployment?.activeCreatedAt ?? '')];
  return theirs > ours;
}

function newestOther(revisionId: string, { deployment }: RevisionObservation): string | undefined {
  const newest = deployment?.latestRevisionId;
  return newest && newest !== revisionId ? newest : undefined;
}
