import type { HoldState } from './hold-state.ts';

/** A status that was seen, and when first (ms since the epoch). */
export interface ObservedStatus {
  status: string;
  at: number;
}

interface RolloutOf {
  revisionId: string;
  /** Every change of status that was seen, in order. */
  seen: readonly ObservedStatus[];
  /** The commit that the service says it built, where it says so. */
  builtCommit?: string;
  statusMessage?: string;
  /** What its build warned of, where the service says so: the agent may lack something. */
  buildWarnings?: readonly string[];
  /** How far its hold was when it was last seen; absent where it has none. */
  hold?: Exclude<HoldState, { kind: 'none' }>;
}

/** How far the followed revision has come. All but `in-progress` are ends. */
export type Rollout =
  | ({ kind: 'in-progress' } & RolloutOf)
  /** DEPLOYED, and the deployment's `active_revision_id` is this one. */
  | ({ kind: 'live' } & RolloutOf)
  | ({ kind: 'failed'; status: string } & RolloutOf)
  /** A newer revision took its place: `by`, where it is known. */
  | ({ kind: 'superseded'; by?: string } & RolloutOf)
  | ({ kind: 'interrupted' } & RolloutOf)
  | ({ kind: 'timed-out' } & RolloutOf);

export type EndedRollout = Exclude<Rollout, { kind: 'in-progress' }>;
