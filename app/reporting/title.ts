import { shortCommit } from '../../src/deploy/rules/commit.ts';
import { firstTestOf } from '../../src/deploy/words/verdict-words.ts';
import { decisionOf } from '../../src/deploy/rules/hold-state.ts';
import { decisionWords } from '../../src/deploy/words/decision.ts';
import { durationText } from '../../src/deploy/words/verdict-table/words.ts';
import { asLine } from '../../src/deploy/words/sanitize.ts';
import { type Ended, type Following, type Intent, heldTermsOf } from '../reconcile/intent.ts';
import { isLiveInAnother } from './check-status.ts';

/** Context of a check that the intent itself does not hold. */
export interface CheckContext {
  /** What the deployment is busy with, where this one waits for it. */
  waitingFor?: { commit: string; revisionId?: string | undefined } | undefined;
  /** ms since the epoch */
  now: number;
}

/** The one line that lists of checks show. It is plain text at GitHub, so only its length and signs are bounded. */
export const titleOf = (intent: Intent, about: CheckContext): string =>
  asLine(titleText(intent, about), 140).toWellFormed();

function titleText(intent: Intent, { waitingFor, now }: CheckContext): string {
  switch (intent.state) {
    case 'requested':
      return 'Recorded, to be decided';
    case 'waiting':
      return waitingFor ? `Waits for ${shortCommit(waitingFor.commit)}, which is under way` : 'Waits for its turn';
    case 'paused':
      return 'Held until a person presses Redeploy';
    case 'measuring':
      return 'Measuring the live revision, to compare the new one with it';
    case 'sending':
      return 'Requesting a revision from the service';
    case 'expecting':
      return 'Waits for the revision that the service makes by itself';
    case 'following':
      return followingWords(intent, now);
    case 'testing':
      return intent.hold ? heldTitle : liveTitle;
    case 'deciding':
      return heldTitle;
    case 'concluding':
    case 'undoing':
      return liveTitle;
    case 'ended':
      return outcomeTitle(intent);
  }
}

const heldTitle = 'Held before traffic, running smoke tests';
const liveTitle = 'Live, running smoke tests';

function followingWords(intent: Following, now: number): string {
  const { rollout, verdict } = intent;
  if (verdict)
    return decisionOf(verdict, heldTermsOf(intent)) === 'promoted' ? 'Promoted, to get the traffic' : 'Being discarded';
  const last = rollout.seen.at(-1);
  if (!last) return 'The revision is on its way';
  return `${asLine(last.status, 40)}${elapsed(now - last.at)}`;
}

/** Formats a duration in growing steps: a check is written whenever its text changes. */
export function elapsed(ms: number): string {
  const step = ms < 120_000 ? 15_000 : ms < 600_000 ? 60_000 : 300_000;
  const whole = Math.floor(ms / step) * step;
  return whole > 0 ? ` for ${durationText(whole)}` : '';
}

function outcomeTitle({ cause, verdict, decision, end }: Ended): string {
  const late = cause.lateMs === undefined ? '' : `, recovered ${minutesLate(cause.lateMs)} late`;
  if (isLiveInAnother(end)) return `Live in ${shortCommit(end.liveIn ?? '')}`;
  switch (end.kind) {
    case 'deployed':
      return `${verdict?.kind === 'passed' ? 'Live and proven' : 'Live'}${late}`;
    case 'unproven':
      return `Live, not proven to answer${late}`;
    case 'broken':
      return `Live, but fails its smoke tests${late}`;
    case 'rolled-back':
      return `Answered wrongly, rolled back${late}`;
    case 'discarded':
      return verdict?.kind === 'failed'
        ? `Discarded before it got traffic: ${firstTestOf(verdict, 'failed')}`
        : `Discarded before it got traffic${late}`;
    case 'failed':
      return `Failed${late}`;
    case 'superseded':
      return end.by ? `Superseded by ${shortCommit(end.by.commit)}` : 'Superseded';
    case 'interrupted':
      return 'Interrupted at the service';
    case 'timed-out':
      return 'Not live in time';
    case 'refused':
      return 'Refused';
    case 'unknown':
      return 'Not known whether the request took effect';
    case 'skipped':
      return decision?.kind === 'skip' ? `Not deployed: ${decisionWords(decision)}` : 'Not deployed';
    case 'joined':
      return 'Reported with another event of this commit';
    case 'absent':
      return 'The service made no revision of this commit';
    case 'other-commit':
      return end.by ? `Built was ${shortCommit(end.by.commit)}: the branch had moved on` : 'Another commit was built';
  }
}

/** Formats a delay in whole minutes, at least one. */
export function minutesLate(ms: number): string {
  const minutes = Math.max(1, Math.round(ms / 60_000));
  return `${minutes} minute${minutes === 1 ? '' : 's'}`;
}
