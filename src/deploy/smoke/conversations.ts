import { randomUUID } from 'node:crypto';
import type { Clock } from '../../kit/clock.ts';
import type { CallOptions } from '../../contract/call-options.ts';
import type { ConversationTerms } from '../file/conversations.ts';
import type { ConversationServer } from '../../contract/agent/service.ts';
import type { ThreadSearch } from '../../contract/agent/thread.ts';
import type { ServiceError } from '../../contract/service-error.ts';
import {
  afterTurns,
  type ConversationCourse,
  type KnownConversation,
  type TriedConversation,
  type Turn,
  withTurn,
} from '../rules/conversation-course.ts';
import { unreadConversations } from '../rules/conversation-verdict.ts';
import {
  conversationState,
  copyMark,
  courseMark,
  isLeftOver,
  newestConversations,
  type ConversationState,
} from '../rules/conversations.ts';
import type { NamedVerdict, UnprovenReason } from '../rules/verdict-types.ts';
import { graphShape, type CompareStates, type Conversation } from './conversation-copy.ts';
import { outOfTime } from './judge.ts';
import { withTimeLimit } from '../machine/deadlines.ts';
import type { DeployEvent } from '../machine/deploy-event.ts';
import { removeThread } from './remove-resources.ts';
import { tryCall } from './try-call.ts';

/** The conversations, and the dependencies of a check. */
export interface ConversationCheck {
  terms: ConversationTerms;
  clock: Clock;
  signal?: AbortSignal | undefined;
  /** When all must have come to an end (ms since the epoch): what is open then is not checked. */
  until?: number | undefined;
  /** On this thread when absent. */
  compare?: CompareStates | undefined;
  /** Receives what could not be removed, and why there is no verdict. */
  note: (text: string) => void;
  redact: (text: string) => string;
  /** Stores how far they are, after each turn. One that rejects ends the check. */
  keep?: ((course: ConversationCourse) => Promise<void>) | undefined;
  emit?: ((event: DeployEvent) => void) | undefined;
}

/** What the live revision reports of the newest conversations, or why it could not be read. */
export type RecordedConversations =
  | { ok: true; course: ConversationCourse; conversations: readonly Conversation[] }
  | { ok: false; verdict: NamedVerdict };

/** How long all of them may take (ms). */
const maxMs = 600_000;

/** What is kept of all conversations together (characters of JSON). */
const largest = 20_000_000;

/** When a check that begins now has to end (ms since the epoch). */
export const endOf = ({ clock, until = Infinity }: ConversationCheck): number => Math.min(clock.now() + maxMs, until);

/** Ends work at a time, and waits for what it removes then. Undefined where it was not done. */
export async function inTime<T>(
  endsAt: number,
  check: ConversationCheck,
  work: (check: ConversationCheck) => Promise<T>,
): Promise<T | undefined> {
  const { clock, signal } = check;
  if (clock.now() >= endsAt) return undefined;
  let working: Promise<unknown> = Promise.resolve();
  const timed = await withTimeLimit(clock, endsAt - clock.now(), signal, (bound) => {
    const started = work({ ...check, signal: bound });
    working = started;
    return started;
  });
  await working.catch(() => undefined);
  signal?.throwIfAborted();
  return timed.kind === 'done' ? timed.value : undefined;
}

/** Why a server that failed proves nothing. */
const reasonOf = ({ kind, status }: ServiceError): UnprovenReason =>
  kind === 'unauthorized' ? 'denied' : status === 500 ? 'server-error' : 'unreachable';

/** What failed, without what the agent says of it: that may quote the conversation. */
const kindOf = ({ operation, kind, status }: ServiceError): string => `${operation}: ${status ?? kind}`;

/** The turn of a conversation in which a server failed. */
export const unchecked = (error: ServiceError): Turn => ({
  kind: 'unchecked',
  because: reasonOf(error),
  why: kindOf(error),
});

/**
 * Removes the copies that killed processes left, and reads the newest conversations of the live revision, or those of a
 * course that an earlier process began. Writes nothing else.
 */
export async function recordConversations(
  live: ConversationServer,
  check: ConversationCheck,
  begun: ConversationCourse = { id: randomUUID(), tries: 1 },
): Promise<RecordedConversations> {
  const work = (own: ConversationCheck) =>
    begun.conversations ? readAgain(begun, live, own) : readConversations(begun, live, own);
  const recorded = await tryCall(inTime(endOf(check), check, work));
  if (recorded.ok) {
    if (recorded.value) return recorded.value;
    const isOver = check.clock.now() >= (check.until ?? Infinity);
    const [because, why] = isOver
      ? [outOfTime.because, outOfTime.why]
      : ['unreachable' as const, 'reading them took too long'];
    return { ok: false, verdict: unreadConversations(because, why) };
  }
  return { ok: false, verdict: unreadConversations(reasonOf(recorded.error), check.redact(recorded.error.message)) };
}

async function readConversations(
  begun: ConversationCourse,
  live: ConversationServer,
  check: ConversationCheck,
): Promise<RecordedConversations> {
  const { terms, signal, note } = check;
  const options = { signal };
  await removeLeftOvers(begun, live, check);
  const search: ThreadSearch = {
    // Copies of another run may be among them.
    limit: terms.newest + 20,
    sort_by: 'updated_at',
    sort_order: 'desc',
    select: ['thread_id', 'created_at', 'updated_at', 'metadata', 'status'],
  };
  const found = [
    ...(await live.searchThreads({ ...search, status: 'idle' }, options)),
    ...(await live.searchThreads({ ...search, status: 'interrupted' }, options)),
  ];
  const shapeOf = shapesAt(live, options);
  const conversations: Conversation[] = [];
  let size = 0;
  for (const { thread_id: threadId, updated_at: updatedAt, metadata } of newestConversations(found, terms.newest)) {
    const graphId = String(metadata?.['graph_id']);
    const assistantId = typeof metadata?.['assistant_id'] === 'string' ? metadata['assistant_id'] : graphId;
    const state = await tryCall(live.getThreadState(threadId, options));
    // What can't be read on the live revision is not the new one's fault.
    if (!state.ok && (state.error.kind === 'missing' || state.error.status === 500)) continue;
    if (!state.ok) throw state.error;
    const before = conversationState(state.value);
    size += JSON.stringify(before).length;
    if (size > largest) {
      note(`conversations: only the newest ${conversations.length} are tried: more are too large together`);
      break;
    }
    conversations.push(await withShape({ threadId, updatedAt, graphId, assistantId }, before, shapeOf));
  }
  const known = conversations.map((each): TriedConversation => {
    const { before: _, live: __, ...identity } = each;
    return { ...identity, turns: [] };
  });
  return { ok: true, conversations, course: { ...begun, conversations: known } };
}

/** Reads those again that have not come to an end: a host keeps nothing that was said in them. */
async function readAgain(
  begun: ConversationCourse,
  live: ConversationServer,
  check: ConversationCheck,
): Promise<RecordedConversations> {
  const options = { signal: check.signal };
  await removeCopies(begun, live, check);
  const shapeOf = shapesAt(live, options);
  const conversations: Conversation[] = [];
  let course = begun;
  for (const known of begun.conversations ?? []) {
    if (afterTurns(known, true).kind === 'result') continue;
    const read = await tryCall(
      live.getThreadState(known.threadId, options).then((state) => withShape(known, conversationState(state), shapeOf)),
    );
    if (read.ok) conversations.push(read.value);
    else
      course = withTurn(
        course,
        known.threadId,
        read.error.kind === 'missing' ? { kind: 'moved-on' } : unchecked(read.error),
      );
  }
  return { ok: true, conversations, course };
}

async function withShape(
  { threadId, updatedAt, graphId, assistantId }: KnownConversation,
  before: ConversationState,
  shapeOf: ShapeOf,
): Promise<Conversation> {
  return { threadId, updatedAt, graphId, assistantId, before, live: (await shapeOf(assistantId)) ?? noShape };
}

export type ShapeOf = (assistantId: string) => ReturnType<typeof graphShape>;

/** Reads the shape of each assistant's graph once. */
export function shapesAt(server: ConversationServer, options: CallOptions): ShapeOf {
  const shapes = new Map<string, ReturnType<typeof graphShape>>();
  return (assistantId) => {
    const shape = shapes.get(assistantId) ?? graphShape(server, assistantId, options);
    shapes.set(assistantId, shape);
    return shape;
  };
}

const noShape = { nodes: undefined, stateSchema: undefined };

/** Removes what earlier processes of a course left, where it can be looked for. */
export async function removeCopies(
  course: ConversationCourse,
  live: ConversationServer,
  check: ConversationCheck,
): Promise<void> {
  const removed = await tryCall(removeLeftOvers(course, live, check));
  if (!removed.ok) check.note(`conversations: could not look for copies that were left (${kindOf(removed.error)})`);
}

/** Removes the copies of earlier processes of this course, and those of others that must have ended by now. */
async function removeLeftOvers(
  { id }: ConversationCourse,
  live: ConversationServer,
  { clock, signal, note }: ConversationCheck,
): Promise<void> {
  const copies = await live.searchThreads({ metadata: copyMark, limit: 1_000 }, { signal });
  const isOfCourse = ({ metadata }: (typeof copies)[number]) => metadata?.[courseMark] === id;
  for (const each of copies.filter((copy) => isOfCourse(copy) || isLeftOver(copy, clock.now()))) {
    const left = (what: string): void => note(`conversations: could not remove ${what}`);
    await removeThread(each.thread_id, `the old copy ${each.thread_id}`, { agent: live, clock, signal, left });
  }
}
