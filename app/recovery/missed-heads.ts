import { sameCommit, shortCommit } from '../../src/planning/commit.ts';
import type { Head } from '../github/github-api.ts';
import type { RevisionSeen } from '../../src/planning/trigger-types.ts';
import type { Intent } from '../reconcile/intent.ts';

/** The observed state of one deployment of a branch. */
export interface HeadQuestion {
  head: Head;
  live: RevisionSeen | undefined;
  /** The newest revision; it may be the live one. */
  latest: RevisionSeen | undefined;
  /** The newest intents of the deployment, newest first. */
  intents: readonly Pick<Intent, 'commit' | 'branch' | 'cause' | 'state' | 'end' | 'decision' | 'createdAt'>[];
  rolledBackCommit: string | undefined;
  branch: string;
  /** ms since the epoch */
  now: number;
}

/** Whether the head was missed. `key` makes the cause one, however often it is found. */
export type HeadAnswer = { kind: 'missed'; key: string; lateMs: number; why: string } | { kind: 'fine'; why: string };

/** A push this recent (ms) will still be delivered. */
const graceMs = 60_000;

/**
 * Whether the head of a branch was never built and no work is open for it. It is fine if the deployment's last outcome
 * was about this head, whatever it was: its check says so.
 */
export function wasMissed(question: HeadQuestion): HeadAnswer {
  const { head, live, latest, intents, rolledBackCommit, branch } = question;
  const commit = shortCommit(head.sha);
  const newest = intents.find(
    (intent) => intent.branch === branch && followsHead(intent) && intent.end?.kind !== 'joined',
  );
  if (newest && sameCommit(newest.commit, head.sha) && !wasCutOff(newest) && !gaveWay(newest)) {
    return fine(`the newest intent is about ${commit}`);
  }
  // Without an intent no check shows the rollback: request the head, so that its check says why it is not built.
  const hasCheck = intents.some((intent) => sameCommit(intent.commit, head.sha));
  if (hasCheck && sameCommit(rolledBackCommit, head.sha)) return fine(`${commit} was rolled back`);
  if (latest?.standing === 'on-its-way') {
    if (latest.commit === undefined)
      return fine(`revision ${latest.id} is in progress, and its commit is not known yet`);
    if (sameCommit(latest.commit, head.sha)) return fine(`revision ${latest.id} of ${commit} is on its way`);
    // Another commit is about to take the place of what is live.
  } else if (live && sameCommit(live.commit, head.sha)) return fine(`${commit} is live`);
  const lateMs = lateness(question, newest);
  if (lateMs < graceMs) return fine(`${commit} is new, and its push may be on its way`);
  return {
    kind: 'missed',
    key: `${head.sha}:${latest?.id ?? 'none'}`,
    lateMs,
    why: `${commit} is the head of ${branch}, and neither live nor on its way`,
  };
}

const fine = (why: string): HeadAnswer => ({ kind: 'fine', why });

/** A rollback is about an older commit on purpose: it says nothing about the head. */
const followsHead = ({ cause: { kind } }: Pick<Intent, 'cause'>): boolean => kind !== 'failure' && kind !== 'rollback';

/** It ended because the App was removed from the repository, which is now installed again. */
const wasCutOff = ({ state, decision }: Pick<Intent, 'state' | 'decision'>): boolean =>
  state === 'ended' && decision?.kind === 'skip' && decision.code === 'not-installed';

/** It was superseded by another head or build: outdated now that this commit is the head again. */
const gaveWay = ({ end }: Pick<Intent, 'end'>): boolean => end?.kind === 'superseded' || end?.kind === 'other-commit';

/**
 * The longest time that the branch may have been at this head (ms): a commit may be older than its push. Committers set
 * the commit time, so a future or missing one is ignored; without any other it counts as late enough.
 */
function lateness({ head, now }: HeadQuestion, newest: Pick<Intent, 'createdAt'> | undefined): number {
  const committedAt = head.committedAt <= now + graceMs ? head.committedAt : 0;
  const since = Math.max(committedAt, newest?.createdAt ?? 0);
  return since === 0 ? graceMs : Math.max(0, now - since);
}
