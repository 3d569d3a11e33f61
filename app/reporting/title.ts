import { shortCommit } from '../../src/contract/control/repo-ref.ts';
import { firstTestOf } from '../../src/deploy/words/verdict-words.ts';
import { decisionWords, waitWords } from '../../src/deploy/words/decision.ts';
import { durationText } from '../../src/deploy/words/verdict-table/words.ts';
import { asLine } from '../../src/deploy/words/sanitize.ts';
import {
  type Ended,
  type Following,
  decisionOn,
  type IntentIn,
  type IntentOutcomeKind,
  type IntentState,
} from '../reconcile/intent.ts';
import { isLiveInAnother } from './check-status.ts';

/** Context of a check that the intent itself does not hold. */
export interface CheckContext {
  /** What the deployment is busy with, where this one waits for it. */
  waitingFor?: { commit: string; revisionId?: string | undefined } | undefined;
  /** ms since the epoch */
  now: number;
  /** The base address of the control service, for the receipt; absent: there is none. */
  service?: string | undefined;
}

/** What a check says of an intent, by its state. */
export type StateWords = { [State in IntentState]: (intent: IntentIn<State>, about: CheckContext) => string };

const heldTitle = 'Held before traffic, running smoke tests';
const liveTitle = 'Live, running smoke tests';

const titles: StateWords = {
  requested: () => 'Recorded, to be decided',
  waiting: ({ decision }, { waitingFor }) => {
    if (waitingFor) return `Waits for ${shortCommit(waitingFor.commit)}, which is under way`;
    return decision?.kind === 'await' ? `Waits ${waitWords(decision)}` : 'Waits for its turn';
  },
  paused: () => 'Held until a person presses Redeploy',
  measuring: () => 'Measuring the live revision, to compare the new one with it',
  sending: () => 'Requesting a revision from the service',
  expecting: () => 'Waits for the revision that the service makes by itself',
  following: followingWords,
  testing: ({ hold }) => (hold ? heldTitle : liveTitle),
  deciding: () => heldTitle,
  concluding: () => liveTitle,
  undoing: () => liveTitle,
  ended: (intent) =>
    isLiveInAnother(intent.end)
      ? `Live in ${shortCommit(intent.end.liveIn ?? '')}`
      : outcomeTitles[intent.end.kind](intent, lateWords(intent)),
};

/** The one line that lists of checks show. It is plain text at GitHub, so only its length and signs are bounded. */
export const titleOf = <State extends IntentState>(intent: IntentIn<State>, about: CheckContext): string =>
  asLine(titles[intent.state](intent, about), 140).toWellFormed();

function followingWords(intent: Following, { now }: CheckContext): string {
  const { rollout, verdict } = intent;
  if (verdict) return decisionOn(verdict, intent) === 'promoted' ? 'Promoted, to get the traffic' : 'Being discarded';
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

const outcomeTitles: Record<IntentOutcomeKind, (ended: Ended, late: string) => string> = {
  deployed: ({ verdict }, late) => `${verdict?.kind === 'passed' ? 'Live and proven' : 'Live'}${late}`,
  unproven: (_, late) => `Live, not proven to answer${late}`,
  broken: (_, late) => `Live, but fails its smoke tests${late}`,
  'rolled-back': (_, late) => `Answered wrongly, rolled back${late}`,
  discarded: ({ verdict }, late) =>
    `Discarded before it got traffic${verdict?.kind === 'failed' ? `: ${firstTestOf(verdict, 'failed')}` : late}`,
  failed: (_, late) => `Failed${late}`,
  superseded: ({ end: { by } }) => (by ? `Superseded by ${shortCommit(by.commit)}` : 'Superseded'),
  interrupted: () => 'Interrupted at the service',
  'timed-out': () => 'Not live in time',
  refused: () => 'Refused',
  unknown: () => 'Not known whether the request took effect',
  skipped: ({ decision }) => (decision?.kind === 'skip' ? `Not deployed: ${decisionWords(decision)}` : 'Not deployed'),
  joined: () => 'Reported with another event of this commit',
  absent: () => 'The service made no revision of this commit',
  'other-commit': ({ end: { by } }) =>
    by ? `Built was ${shortCommit(by.commit)}: the branch had moved on` : 'Another commit was built',
};

const lateWords = ({ cause: { lateMs } }: Ended): string =>
  lateMs === undefined ? '' : `, recovered ${minutesLate(lateMs)} late`;

/** Formats a delay in whole minutes, at least one. */
export function minutesLate(ms: number): string {
  const minutes = Math.max(1, Math.round(ms / 60_000));
  return `${minutes} minute${minutes === 1 ? '' : 's'}`;
}
