import { randomUUID } from 'node:crypto';
import type { ConversationServer } from '../../contract/agent/service.ts';
import {
  afterTurns,
  type ConversationCourse,
  resultsOf,
  takenUp,
  type TriedConversation,
  type Turn,
  withTurn,
} from '../rules/conversation-course.ts';
import { concludeConversations, unreadConversations } from '../rules/conversation-verdict.ts';
import { type ConversationProblem, redactedProblem } from '../rules/conversations.ts';
import { concludeAll } from '../rules/verdict.ts';
import type { NamedVerdict, Verdict } from '../rules/verdict-types.ts';
import { notCounted, whyLate, whyLost } from '../words/conversations.ts';
import { copyProblems, type Conversation } from './conversation-copy.ts';
import {
  endOf,
  inTime,
  recordConversations,
  removeCopies,
  shapesAt,
  unchecked,
  type ConversationCheck,
  type RecordedConversations,
  type ShapeOf,
} from './conversations.ts';
import { atHold } from './remove-resources.ts';
import { tryCall } from './try-call.ts';

/** The revision that copies are tried on, and the one that serves, if one does beside it. */
export interface Revisions<Live> {
  changed: ConversationServer;
  live: Live;
}

/** A check of a held revision, and where both revisions answer, as far as that is known. */
export interface HeldCheck extends ConversationCheck {
  changed: ConversationServer | undefined;
  live: ConversationServer | undefined;
}

/** Conversations that are tried at the same time. */
const atOnce = 4;

/** The course of conversations that nobody began to try. */
export const newCourse = (id: string = randomUUID()): ConversationCourse => ({ id, tries: 0 });

/**
 * The verdict on a held revision: that of its smoke tests, with that on conversations of the live one, which are tried
 * unless the tests failed. @param triedBy absent: none are tried
 */
export async function withConversations(
  tests: readonly NamedVerdict[],
  course: ConversationCourse,
  triedBy: (() => Promise<HeldCheck>) | undefined,
): Promise<Verdict> {
  const tested = concludeAll(tests);
  if (!triedBy || tested.kind === 'failed') return tested;
  const { changed, live, ...check } = await triedBy();
  return withVerdict(
    tested,
    changed && live ? await converse(course, { changed, live }, check) : withoutAddress,
    check,
  );
}

/** The verdict if it is not known where one of the revisions answers. */
export const withoutAddress: NamedVerdict = unreadConversations(
  'no-address',
  'the service does not report where the agent answers',
);

/** The verdict of smoke tests with that on conversations, if there is one. */
export function withVerdict(
  tested: Verdict,
  verdict: NamedVerdict | undefined,
  { emit }: Pick<ConversationCheck, 'emit'>,
): Verdict {
  if (!verdict) return tested;
  emit?.({ kind: 'smoke-tested', tested: verdict });
  return concludeAll([...tested.tests, verdict]);
}

/**
 * Tries copies of the live revision's newest conversations on a new one, beside which it serves; or goes on with those
 * that an earlier process began. That it begins is kept before. Undefined where there is nothing to say: a note says why.
 */
export async function converse(
  begun: ConversationCourse,
  revisions: Revisions<ConversationServer>,
  check: ConversationCheck,
): Promise<NamedVerdict | undefined> {
  const { live } = revisions;
  const course = takenUp(begun);
  if (!course) {
    await removeCopies(begun, live, check);
    return unreadConversations('unreachable', whyLost);
  }
  await check.keep?.(course);
  return checkConversations(await recordConversations(live, check, course), revisions, check);
}

/**
 * Tries copies of the recorded conversations on a new revision. Undefined where there is nothing to say: a note says why.
 *
 * @param revisions.live where a run that fails is tried as well, so that it is not blamed on the new revision; undefined
 *   where the former revision serves no more.
 */
export async function checkConversations(
  recorded: RecordedConversations,
  { changed: held, live }: Revisions<ConversationServer | undefined>,
  check: ConversationCheck,
): Promise<NamedVerdict | undefined> {
  if (!recorded.ok) return recorded.verdict;
  const { clock, note } = check;
  const changed = atHold(held, () => live);
  const startedAt = recorded.course.startedAt ?? clock.now();
  const course = await takeTurns({ ...recorded.course, startedAt }, recorded.conversations, { changed, live }, check);
  const results = resultsOf(course, live !== undefined, { because: 'unreachable', why: whyLate });
  const verdict = concludeConversations(results, clock.now() - startedAt);
  if (!verdict) note(`conversations: there is none to check${results.length > 0 ? ` (${notCounted(results)})` : ''}`);
  return verdict;
}

/** Takes turns, several at once, until each conversation has come to something or the time is over. */
async function takeTurns(
  begun: ConversationCourse,
  conversations: readonly Conversation[],
  revisions: Revisions<ConversationServer | undefined>,
  check: ConversationCheck,
): Promise<ConversationCourse> {
  const { signal, redact, keep } = check;
  const unkept = new AbortController();
  const own = { ...check, signal: AbortSignal.any([...(signal ? [signal] : []), unkept.signal]) };
  const endsAt = endOf(check);
  const shapeOf = shapesAt(revisions.changed, { signal: own.signal, deadline: endsAt });
  let course = begun;
  let keeping = Promise.resolve();
  const ended = async (threadId: string, turn: Turn): Promise<void> => {
    course = withTurn(course, threadId, redacted(turn, redact));
    const now = course;
    // One after the other: a later one has more turns.
    keeping = keeping.then(() => keep?.(now));
    await keeping.catch((error: unknown) => {
      unkept.abort(error);
      throw error;
    });
  };
  const waiting = [...conversations];
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const conversation = next;
      for (;;) {
        const due = afterTurns(triedOf(course, conversation), revisions.live !== undefined);
        if (due.kind === 'result') break;
        const turn = await inTime(endsAt, own, (bound) =>
          takeTurn(conversation, due.on, { ...revisions, shapeOf }, course.id, bound),
        );
        if (!turn) break;
        await ended(conversation.threadId, turn);
      }
    }
  };
  const workers = Array.from({ length: Math.min(atOnce, waiting.length) }, work);
  // When they are cancelled, each of them still removes its copy.
  await Promise.allSettled(workers);
  await Promise.all(workers);
  return course;
}

const triedOf = (
  { conversations = [] }: ConversationCourse,
  { threadId }: Conversation,
): Pick<TriedConversation, 'threadId' | 'turns'> =>
  conversations.find((each) => each.threadId === threadId) ?? { threadId, turns: [] };

/** Names of the agent's own code may hold secrets, and a turn is kept. */
const redacted = (turn: Turn, redact: (text: string) => string): Turn =>
  turn.kind === 'broken'
    ? { ...turn, problems: turn.problems.map((each): ConversationProblem => redactedProblem(each, redact)) }
    : turn;

interface TurnServers extends Revisions<ConversationServer | undefined> {
  shapeOf: ShapeOf;
}

/** Tries one copy of a conversation on one of the revisions. */
async function takeTurn(
  conversation: Conversation,
  on: keyof Revisions<never>,
  servers: TurnServers,
  courseId: string,
  { terms, clock, signal, compare, note }: ConversationCheck,
): Promise<Turn> {
  const left = (what: string): void => note(`conversations: could not remove ${what}`);
  const copying = { terms, clock, signal, compare, left, courseId };
  const tried = await tryCall(
    on === 'live' && servers.live
      ? copyProblems(conversation, servers.live, conversation.live, copying)
      : tryOnChanged(conversation, servers, copying),
  );
  return tried.ok ? tried.value : unchecked(tried.error);
}

async function tryOnChanged(
  conversation: Conversation,
  { changed, shapeOf }: Pick<TurnServers, 'changed' | 'shapeOf'>,
  copying: Parameters<typeof copyProblems>[3],
): Promise<Turn> {
  const { signal } = copying;
  const original = await tryCall(changed.getThread(conversation.threadId, { signal }));
  if (!original.ok && original.error.kind !== 'missing') throw original.error;
  // At the address of a hold that has ended everything is missing.
  if (!original.ok) await changed.ok({ signal });
  if (!original.ok || original.value.updated_at !== conversation.updatedAt) return { kind: 'moved-on' };
  const shape = await shapeOf(conversation.assistantId);
  if (!shape) return { kind: 'broken', problems: [{ kind: 'no-graph', graph: conversation.graphId }], byRun: false };
  return copyProblems(conversation, changed, shape, copying);
}
