import type { Clock } from '../../kit/clock.ts';
import type { CallOptions } from '../../contract/call-options.ts';
import type { ConversationTerms } from '../file/conversations.ts';
import type { ConversationServer } from '../../contract/agent/service.ts';
import type { ThreadSearch } from '../../contract/agent/thread.ts';
import type { ServiceError } from '../../contract/service-error.ts';
import { concludeConversations, unreadConversations, type ConversationResult } from '../rules/conversation-verdict.ts';
import { notCounted } from '../words/conversations.ts';
import { conversationState, copyMark, isLeftOver, newestConversations } from '../rules/conversations.ts';
import type { NamedVerdict, UnprovenReason } from '../rules/verdict-types.ts';
import {
  copyProblems,
  graphShape,
  type CompareStates,
  type Conversation,
  type CopyingOptions,
} from './conversation-copy.ts';
import { outOfTime } from './judge.ts';
import { withTimeLimit } from '../machine/deadlines.ts';
import { atHold, removeThread } from './remove-resources.ts';
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
}

/** What the live revision reports of the newest conversations, or why it could not be read. */
export type RecordedConversations =
  { ok: true; conversations: readonly Conversation[] } | { ok: false; verdict: NamedVerdict };

/** Conversations that are tried at the same time, and how long all of them may take (ms). */
const atOnce = 4;
const maxMs = 600_000;

/** What is kept of all conversations together (characters of JSON). */
const largest = 20_000_000;

const endOf = ({ clock, until = Infinity }: ConversationCheck): number => Math.min(clock.now() + maxMs, until);

/** Ends work at a time, and waits for what it removes then. Undefined where it was not done. */
async function inTime<T>(
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

/** Removes the copies that a killed run left, and reads the newest conversations of the live revision. Writes nothing else. */
export async function recordConversations(
  live: ConversationServer,
  check: ConversationCheck,
): Promise<RecordedConversations> {
  const recorded = await tryCall(inTime(endOf(check), check, (own) => readConversations(live, own)));
  if (recorded.ok) {
    const { value: conversations } = recorded;
    if (conversations) return { ok: true, conversations };
    const isOver = check.clock.now() >= (check.until ?? Infinity);
    const [because, why] = isOver
      ? [outOfTime.because, outOfTime.why]
      : ['unreachable' as const, 'reading them took too long'];
    return { ok: false, verdict: unreadConversations(because, why) };
  }
  return { ok: false, verdict: unreadConversations(reasonOf(recorded.error), check.redact(recorded.error.message)) };
}

async function readConversations(live: ConversationServer, check: ConversationCheck): Promise<Conversation[]> {
  const { terms, signal, note } = check;
  const options = { signal };
  await removeLeftOvers(live, check);
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
    const shape = (await shapeOf(assistantId)) ?? noShape;
    conversations.push({ threadId, updatedAt, graphId, assistantId, before, live: shape });
  }
  return conversations;
}

/** Reads the shape of each assistant's graph once. */
function shapesAt(server: ConversationServer, options: CallOptions): Revisions['shapeOf'] {
  const shapes = new Map<string, ReturnType<typeof graphShape>>();
  return (assistantId) => {
    const shape = shapes.get(assistantId) ?? graphShape(server, assistantId, options);
    shapes.set(assistantId, shape);
    return shape;
  };
}

const noShape = { nodes: undefined, stateSchema: undefined };

async function removeLeftOvers(live: ConversationServer, { clock, signal, note }: ConversationCheck): Promise<void> {
  const copies = await live.searchThreads({ metadata: copyMark, limit: 1_000 }, { signal });
  for (const { thread_id: id } of copies.filter((each) => isLeftOver(each, clock.now()))) {
    const left = (what: string): void => note(`conversations: could not remove ${what}`);
    await removeThread(id, `the old copy ${id}`, { agent: live, clock, signal, left });
  }
}

/**
 * Tries copies of the recorded conversations on a new revision. Undefined where there is nothing to say: a note says why.
 *
 * @param live where a run that fails is tried as well, so that it is not blamed on the new revision; undefined where the
 *   former revision serves no more.
 */
export async function checkConversations(
  recorded: RecordedConversations,
  { changed: held, live }: { changed: ConversationServer; live: ConversationServer | undefined },
  check: ConversationCheck,
): Promise<NamedVerdict | undefined> {
  if (!recorded.ok) return recorded.verdict;
  const changed = atHold(held, () => live);
  const { clock, note, redact } = check;
  const startedAt = clock.now();
  const endsAt = endOf(check);
  const waiting = [...recorded.conversations];
  const results: ConversationResult[] = [];
  const shapeOf = shapesAt(changed, { signal: check.signal, deadline: endsAt });
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const conversation = next;
      const tryIt = (own: ConversationCheck) => tryConversation(conversation, { changed, live, shapeOf }, own);
      results.push((await inTime(endsAt, check, tryIt)) ?? late(next));
    }
  };
  const workers = Array.from({ length: Math.min(atOnce, waiting.length) }, work);
  // When they are cancelled, each of them still removes its copy.
  await Promise.allSettled(workers);
  await Promise.all(workers);
  const order = recorded.conversations.map(({ threadId }) => threadId);
  results.sort((one, other) => order.indexOf(one.threadId) - order.indexOf(other.threadId));
  const verdict = concludeConversations(results, clock.now() - startedAt, redact);
  if (!verdict) note(`conversations: there is none to check${results.length > 0 ? ` (${notCounted(results)})` : ''}`);
  return verdict;
}

const late = ({ threadId }: Conversation): ConversationResult => ({
  threadId,
  kind: 'unchecked',
  because: 'unreachable',
  why: 'the time for all conversations together was over',
});

interface Revisions {
  changed: ConversationServer;
  live: ConversationServer | undefined;
  shapeOf: (assistantId: string) => ReturnType<typeof graphShape>;
}

async function tryConversation(
  conversation: Conversation,
  revisions: Revisions,
  check: ConversationCheck,
): Promise<ConversationResult> {
  const tried = await tryCall(resultOf(conversation, revisions, check));
  if (tried.ok) return { threadId: conversation.threadId, ...tried.value };
  const { error } = tried;
  return { threadId: conversation.threadId, kind: 'unchecked', because: reasonOf(error), why: kindOf(error) };
}

/** What failed, without what the agent says of it: that may quote the conversation. */
const kindOf = ({ operation, kind, status }: ServiceError): string => `${operation}: ${status ?? kind}`;

type Result = ConversationResult extends infer Each ? (Each extends unknown ? Omit<Each, 'threadId'> : never) : never;

async function resultOf(
  conversation: Conversation,
  { changed, live, shapeOf }: Revisions,
  { terms, clock, signal, compare, note }: ConversationCheck,
): Promise<Result> {
  const copying: CopyingOptions = {
    terms,
    clock,
    signal,
    compare,
    left: (what) => note(`conversations: could not remove ${what}`),
  };
  const original = await tryCall(changed.getThread(conversation.threadId, { signal }));
  if (!original.ok && original.error.kind !== 'missing') throw original.error;
  // At the address of a hold that has ended everything is missing.
  if (!original.ok) await changed.ok({ signal });
  if (!original.ok || original.value.updated_at !== conversation.updatedAt) return { kind: 'moved-on' };
  const shape = await shapeOf(conversation.assistantId);
  if (!shape) return { kind: 'broken', problems: [{ kind: 'no-graph', graph: conversation.graphId }] };
  const first = await copyProblems(conversation, changed, shape, copying);
  if (first.kind !== 'broken' || !first.byRun) return first;
  // A model answers at random: another try, and one on the revision that serves, have to agree.
  const again = await copyProblems(conversation, changed, shape, copying);
  if (again.kind === 'goes-on') {
    return { kind: 'unchecked', because: 'disagreement', why: 'one of two tries failed, and the other did not' };
  }
  if (again.kind !== 'broken' || !live) return again;
  const before = await copyProblems(conversation, live, conversation.live, copying);
  return before.kind === 'broken' ? { kind: 'broken-before' } : again;
}

const reasonOf = ({ kind, status }: ServiceError): UnprovenReason =>
  kind === 'unauthorized' ? 'denied' : status === 500 ? 'server-error' : 'unreachable';
