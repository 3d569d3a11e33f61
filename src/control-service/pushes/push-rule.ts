/** A deployment's branch, as far as a look at its head decides on it. */
export interface LookedAt {
  /** `source_config.build_on_push`. */
  buildOnPush: boolean;
  /** The head of the branch as it is now. */
  head: string;
  /** The last observed head; undefined on the first look at this branch. */
  seen: string | undefined;
  /** The latest revision: the commit that it is of, as soon as that is known, and whether it has ended. */
  latest: { commit: string | null; hasEnded: boolean };
  /** Whether some revision of the deployment is of the head. */
  wasBuilt: boolean;
}

/**
 * What a look at a branch leads to:
 * - `build`: a push that no revision was made for
 * - `note`: the head is written down as seen
 * - `wait`: a revision is on its way whose commit is not known yet, and may be of this head
 * - `nothing`: as it was
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
