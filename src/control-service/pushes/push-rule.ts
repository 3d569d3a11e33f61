/** The observation of a deployment's branch. */
export interface LookedAt {
  /** `source_config.build_on_push`. */
  buildOnPush: boolean;
  /** The current head of the branch. */
  head: string;
  /** The last observed head; undefined on the first look at this branch. */
  seen: string | undefined;
  /** The latest revision: its commit, once known, and whether it has ended. */
  latest: { commit: string | null; hasEnded: boolean };
  /** Whether the deployment has a revision of the head. */
  wasBuilt: boolean;
}

/**
 * The decision on a branch:
 * - `build`: a push without a revision
 * - `note`: record the head
 * - `wait`: a revision is in progress whose commit is unknown yet, and may be of this head
 * - `nothing`: unchanged
 */
export type LookEnd = 'build' | 'note' | 'wait' | 'nothing';

/**
 * Decides on one observation (control-service.md, States: a push to the branch of `repo_ref` builds a new revision while
 * `build_on_push` is true). Pushes while it is off are only recorded, so that turning it on builds nothing older. A head
 * that already has a revision, from any cause, gets no other.
 */
export function judgeLook({ buildOnPush, head, seen, latest, wasBuilt }: LookedAt): LookEnd {
  if (seen === head) return 'nothing';
  if (!buildOnPush) return 'note';
  if (latest.commit === null && !latest.hasEnded) return 'wait';
  if (latest.commit === head) return 'note';
  return seen === undefined && wasBuilt ? 'note' : 'build';
}
