import { sameCommit } from '../../src/planning/commit.ts';
import type { Intent } from './intent.ts';
import { isRequestForHead } from './next-step.ts';

/** A queue's requests, sorted by the head of the branch. */
export interface SortedRequests {
  /** Of other commits than the head. */
  stale: readonly Intent[];
  /** Of the head, and reported by another intent of it. */
  joined: readonly { intent: Intent; to: Intent }[];
  /** The one for the head, unless running work is about it already. */
  first: Intent | undefined;
  /** Requests are stale and the head has none yet. */
  lacksHead: boolean;
}

/**
 * Sorts requests by the head. Of several for the head the first counts, unless a person made one: that may require more
 * than a push.
 */
export function sortRequests(open: readonly Intent[], head: string, busyWith: Intent | undefined): SortedRequests {
  const requests = open.filter(isRequestForHead);
  const stale = requests.filter(({ commit }) => !sameCommit(commit, head));
  const forHead = requests.filter(({ commit }) => sameCommit(commit, head));
  if (busyWith && builds(busyWith, head)) {
    return { stale, joined: forHead.map((intent) => ({ intent, to: busyWith })), first: undefined, lacksHead: false };
  }
  const first =
    forHead.find(({ cause }) => cause.kind === 'redeploy') ??
    forHead.find(({ cause }) => cause.kind === 'rerun') ??
    forHead[0];
  const joined = first ? forHead.filter((intent) => intent !== first).map((intent) => ({ intent, to: first })) : [];
  return { stale, joined, first, lacksHead: !first && stale.length > 0 };
}

/** Whether what runs is a build of this commit, and not of another that the branch had moved on to. */
const builds = ({ sending, commit, builtCommit }: Intent, head: string): boolean =>
  sending.kind === 'restate' && sameCommit(commit, head) && (!builtCommit || sameCommit(builtCommit, head));
