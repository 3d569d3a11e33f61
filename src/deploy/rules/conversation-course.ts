import { whyDisagreeing } from '../words/conversations.ts';
import type { ConversationProblem } from './conversations.ts';
import type { ConversationResult } from './conversation-verdict.ts';
import type { UnprovenReason } from './verdict-types.ts';

/** A conversation of the live revision, by what identifies it: nothing that was said in it. */
export interface KnownConversation {
  threadId: string;
  updatedAt: string;
  graphId: string;
  assistantId: string;
}

type Without<Result, Key extends PropertyKey> = Result extends unknown ? Omit<Result, Key> : never;

/** What a copy of a conversation came to on a revision. `byRun`: a run shows it, which may end otherwise the next time. */
export type Turn =
  | Without<Extract<ConversationResult, { kind: 'goes-on' | 'unchecked' | 'moved-on' }>, 'threadId'>
  | { kind: 'broken'; problems: readonly ConversationProblem[]; byRun: boolean };

/** A conversation, and the turns that have ended. */
export interface TriedConversation extends KnownConversation {
  turns: readonly Turn[];
}

/** How far the conversations of a deploy are. A host keeps it after each turn; nothing that was said is in it. */
export interface ConversationCourse {
  /** Marks the copies: whoever goes on with the deploy removes those of a process that was killed. */
  id: string;
  /** How many processes in a row began to try them, and ended none. */
  tries: number;
  /** When the first turn began (ms since the epoch). */
  startedAt?: number | undefined;
  /** Undefined until they were read. */
  conversations?: readonly TriedConversation[] | undefined;
}

/** How often in a row they may be lost with their process before they count as unchecked. */
const maxLost = 3;

/** The course once another process goes on with it; undefined where that was in vain too often. */
export const takenUp = (course: ConversationCourse): ConversationCourse | undefined =>
  course.tries > maxLost ? undefined : { ...course, tries: course.tries + 1 };

/** The course after one more turn. */
export const withTurn = (course: ConversationCourse, threadId: string, turn: Turn): ConversationCourse => ({
  ...course,
  tries: 1,
  conversations: course.conversations?.map((each) =>
    each.threadId === threadId ? { ...each, turns: [...each.turns, turn] } : each,
  ),
});

/** The revision that a conversation is tried on next, or what it came to. */
export type NextTurn = { kind: 'try'; on: 'changed' | 'live' } | { kind: 'result'; result: ConversationResult };

/** Reasons of a turn in which a server gave no answer at all. */
const unanswered: ReadonlySet<UnprovenReason> = new Set(['denied', 'server-error', 'unreachable']);

/**
 * What follows from the turns of a conversation. A model answers at random: where a run fails, another try, and one on
 * the revision that serves, have to agree. @param isLiveThere such a revision can be asked
 */
export function afterTurns(
  { threadId, turns: [first, again, before] }: Pick<TriedConversation, 'threadId' | 'turns'>,
  isLiveThere: boolean,
): NextTurn {
  const result = (turn: Without<ConversationResult, 'threadId'>): NextTurn => ({
    kind: 'result',
    result: { threadId, ...turn },
  });
  if (!first) return { kind: 'try', on: 'changed' };
  if (first.kind !== 'broken' || !first.byRun) return result(first);
  if (!again) return { kind: 'try', on: 'changed' };
  if (again.kind === 'goes-on') return result({ kind: 'unchecked', because: 'disagreement', why: whyDisagreeing });
  if (again.kind !== 'broken' || !isLiveThere) return result(again);
  if (!before) return { kind: 'try', on: 'live' };
  if (before.kind === 'broken') return result({ kind: 'broken-before' });
  return result(before.kind === 'unchecked' && unanswered.has(before.because) ? before : again);
}

/** The course of those alone that have come to something. */
export const endedOf = (course: ConversationCourse): ConversationCourse => ({
  ...course,
  conversations: course.conversations?.filter((each) => afterTurns(each, false).kind === 'result'),
});

/** What each conversation came to; `otherwise` is said of those whose turns did not end. */
export const resultsOf = (
  { conversations = [] }: ConversationCourse,
  isLiveThere: boolean,
  otherwise: { because: UnprovenReason; why: string },
): ConversationResult[] =>
  conversations.map((each) => {
    const next = afterTurns(each, isLiveThere);
    return next.kind === 'result' ? next.result : { threadId: each.threadId, kind: 'unchecked', ...otherwise };
  });
