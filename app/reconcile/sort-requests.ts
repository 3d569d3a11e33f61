import { sameCommit } from '../../src/planning/commit.ts';
import type { Intent } from './intent.ts';
import { isRequestForHead } from './next-step.ts';

/** The wishes of a lane, by what the head of the branch makes of them. */
export interface SortedRequests {
  /** Of other commits than the head. */
  stale: readonly Intent[];
  /** Of the head, and told by another intent of it. */
  joined: readonly { intent: Intent; to: Intent }[];
  /** The one for the head, where nothing that runs is about it already. */
  first: Intent | undefined;
  /** Wishes are stale and nothing is about the head yet: it needs one. */
  lacksHead: boolean;
}

/**
 * Sorts wishes by the head. Of several for the head the first counts, but for one that a person made: it may ask for
 * more than a push does.
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
