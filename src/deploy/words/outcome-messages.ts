import { withoutFullStop } from '../../kit/plain-text.ts';
import type { EndedRollout } from '../rules/rollout-types.ts';
import { formatDecision } from '../../kit/statistics/sequential-test.ts';
import type { Measure } from '../file/smoke-test.ts';
import { measureName } from './verdict-table/measures.ts';
import { isOfConversations } from '../rules/verdict-subject.ts';
import type { NamedVerdict, TestVerdict, Verdict } from '../rules/verdict-types.ts';

/** How the outcome of a rollout and of its smoke tests is put in words, wherever it is reported. */

type NotLive = Exclude<EndedRollout, { kind: 'live' | 'superseded' }>;

/** What an entry point says in its own words: what serves instead, how long it waited, and what it saw last. */
export interface RolloutWords {
  /** A sentence. */
  serves: string;
  waited: string;
  lastSeen: string;
  /** Where a newer revision took its place: a sentence. */
  superseded: string;
  /** What to do about each end. */
  advice: Record<NotLive['kind'], string> & { superseded?: string };
}

/** The outcome of a followed revision that did not go live. */
export function outcomeOfRollout(
  rollout: Exclude<EndedRollout, { kind: 'live' }>,
  words: RolloutWords,
): { kind: typeof rollout.kind; reason: string; advice?: string } {
  const { kind } = rollout;
  const reason = rollout.kind === 'superseded' ? words.superseded : whyNotLive(rollout, words);
  const advice = words.advice[kind];
  return { kind, reason, ...(advice === undefined ? {} : { advice }) };
}

/** A sentence or two. */
function whyNotLive(rollout: NotLive, { serves, waited, lastSeen }: RolloutWords): string {
  const { revisionId, statusMessage } = rollout;
  const message = statusMessage ? `: ${withoutFullStop(statusMessage)}` : '';
  switch (rollout.kind) {
    case 'failed':
      return `Revision ${revisionId} ended ${rollout.status}${message}. ${serves}`;
    case 'interrupted':
      return `Revision ${revisionId} was interrupted at the service${message}. ${serves}`;
    case 'timed-out':
      return `Revision ${revisionId} was not live within ${waited}: last seen ${lastSeen}, and it goes on.`;
  }
}

/** The first test that ended so, in one clause. */
export function firstTestOf({ tests }: Verdict, kind: 'failed' | 'unproven'): string {
  const found = tests.filter((each) => each.verdict.kind === kind);
  const [first] = found;
  const more = found.length > 1 ? ` (and ${found.length - 1} more)` : '';
  if (!first) return 'no reason given';
  return `${isOfConversations(first) ? '' : `${first.name}: `}${clauseOf(first)}${more}`;
}

/** What a failed verdict says of its revision: conversations are only tried where the smoke tests did not fail. */
export function whatFailed({ tests }: Pick<Verdict, 'tests'>): string {
  const first = tests.find(({ verdict }) => verdict.kind === 'failed');
  return first && isOfConversations(first) ? 'broke copies of conversations' : 'failed its smoke tests';
}

/** What to change where the failure is intended, as a sentence after others; empty where the agent has to be corrected. */
export function adviceIfIntended({ tests }: Pick<Verdict, 'tests'>): string {
  const failed = tests.filter(({ verdict }) => verdict.kind === 'failed');
  const measures = [...new Set(failed.flatMap(({ verdict }) => otherThanWrong(verdict)))];
  if (failed.some(isOfConversations))
    return ' If these conversations may break, leave `conversations` out of the deploy file.';
  if (measures.length === 0) return '';
  const named = measures.map((measure) => {
    const name = measureName(measure);
    return name === measure ? `\`${measure}\`` : `${name} (\`${measure}\`)`;
  });
  const them = measures.length === 1 ? 'it' : 'them';
  return ` If ${named.join(', ')} may change so, write a \`decide-by\` without ${them} into the smoke test, or \`pass-rate: baseline\` instead of \`against: live\`.`;
}

/** The measures by which a revision failed; none where its answers were wrong as well. */
function otherThanWrong(verdict: TestVerdict): Measure[] {
  if (verdict.kind === 'unproven') return [];
  const worse = verdict.held.flatMap(({ held, expectation }) =>
    !held && expectation.kind === 'no-worse' ? [expectation.measure] : [],
  );
  return worse.includes('pass-rate') ? [] : worse;
}

function clauseOf({ verdict }: NamedVerdict): string {
  if (verdict.kind === 'unproven') return withoutFullStop(verdict.why);
  const missed = verdict.held.find(({ held, advises }) => !held && !advises);
  if (verdict.rate)
    return `${formatDecision(verdict.kind, verdict.rate)}${missed ? `: ${missed.expected}, but for example it was ${missed.seen}` : ''}`;
  if (missed?.expectation.kind === 'goes-on') return missed.seen;
  return missed ? `${missed.expected} was expected, ${missed.seen} was seen` : 'nothing was expected';
}

/** What became of going back from a revision that failed its smoke tests. */
export type RollbackResult =
  | { kind: 'serves-again'; revisionId: string; isProven: boolean }
  /** Carried out, and the former revision fails them too; or not carried out. `why` is a sentence. */
  | { kind: 'no-help' | 'not-undone'; why: string };

export const failedRollbackTitles = {
  'no-help': 'Rolled back, which did not help',
  'not-undone': 'Not rolled back',
} as const;

/** The outcome of a revision after going back from it; `wrong` is a clause that says what it answered. */
export function outcomeOfRollback(
  wrong: string,
  undoing: RollbackResult,
): { kind: 'rolled-back' | 'broken'; reason: string } {
  if (undoing.kind !== 'serves-again') {
    return { kind: 'broken', reason: `${wrong}. ${failedRollbackTitles[undoing.kind]}: ${undoing.why}` };
  }
  const proven = undoing.isProven ? ' and answers as it should' : '';
  return { kind: 'rolled-back', reason: `${wrong}. Revision ${undoing.revisionId} serves again${proven}.` };
}

/** Why going back did not help, and what to do about it. */
export const alsoWrong = (revisionId: string): string =>
  `revision ${revisionId} serves again, and fails the smoke tests too`;
export const adviceOnAlsoWrong = 'Look at what changed beside the deployment: a model, a key, the test.';
