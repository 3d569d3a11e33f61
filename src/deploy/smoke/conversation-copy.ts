import type { Clock } from '../../kit/clock.ts';
import type { ConversationTerms } from '../file/conversations.ts';
import type { RunCreate } from '../../contract/agent/run.ts';
import type { ConversationServer, ServerInfo } from '../../contract/agent/service.ts';
import { copyMetadataFlag } from '../../contract/agent/thread.ts';
import type { CallOptions } from '../../contract/call-options.ts';
import {
  compareInterrupts,
  compareStates,
  continuationOf,
  conversationState,
  copyMark,
  markOfCopy,
  resumeOf,
  type ConversationProblem,
  type ConversationSides,
  type ConversationState,
  type GraphShape,
} from '../rules/conversations.ts';
import type { KnownConversation, Turn } from '../rules/conversation-course.ts';
import { providerFailure } from '../rules/provider-failure.ts';
import { withGrace, withTimeLimit } from '../machine/deadlines.ts';
import { graceMs, removeThread } from './remove-resources.ts';
import { tryCall, type CallResult } from './try-call.ts';

/** A conversation as the live revision reports it. */
export interface Conversation extends KnownConversation {
  before: ConversationState;
  live: GraphShape;
}

/** Compares two states, which are untrusted; undefined where that was given up. */
export type CompareStates = (sides: ConversationSides) => Promise<ConversationProblem[] | undefined>;

/** The dependencies of a try. */
export interface CopyingOptions {
  terms: ConversationTerms;
  clock: Clock;
  signal: AbortSignal | undefined;
  /** On this thread when absent. */
  compare?: CompareStates | undefined;
  /** Receives what could not be removed. */
  left: (what: string) => void;
  /** Marks the copy. */
  courseId: string;
}

type CopyResult = Exclude<Turn, { kind: 'moved-on' }>;

/** How long making a copy may take (ms), and how long it may stay beyond its runs. */
const copyMs = 30_000;
const spareMs = 300_000;

/** The shape of an assistant's graph; undefined where the server is healthy and has no such graph. */
export async function graphShape(
  server: ConversationServer,
  assistantId: string,
  options: CallOptions,
): Promise<GraphShape | undefined> {
  const drawn = await tryCall(server.drawGraph(assistantId, options));
  const schemas = await tryCall(server.readSchemas(assistantId, options));
  for (const each of [drawn, schemas]) {
    if (!each.ok && each.error.kind !== 'missing' && each.error.kind !== 'rejected') throw each.error;
  }
  const isMissing = (each: typeof drawn | typeof schemas): boolean => !each.ok && each.error.kind === 'missing';
  if (isMissing(drawn) && isMissing(schemas)) {
    // At the address of a hold that has ended everything is missing.
    await server.ok(options);
    return undefined;
  }
  return {
    nodes: drawn.ok ? drawn.value.nodes.map(({ id }) => String(id)) : undefined,
    stateSchema: (schemas.ok ? schemas.value.state_schema : undefined) ?? undefined,
  };
}

/** Tries one copy of a conversation on a revision. The copy is removed, whatever happens. */
export async function copyProblems(
  conversation: Conversation,
  server: ConversationServer,
  shape: GraphShape,
  copying: CopyingOptions,
): Promise<CopyResult> {
  const { clock, signal, terms, left, courseId } = copying;
  const { threadId } = conversation;
  const lastsMs = 2 * terms.timeoutMs + spareMs;
  // Where the server marks a copy as it makes it, the next deploy finds it even if this one is killed in between.
  const info = await tryCall(server.info({ signal }));
  signal?.throwIfAborted();
  const request = isMarkedAtOnce(info) ? markOf(courseId, clock.now() + lastsMs) : undefined;
  // The response names the copy, so it is waited for after a cancellation too.
  const copied = await withGrace(clock, graceMs, signal, (late) =>
    tryCall(server.copyThread(threadId, request, { signal: late, deadline: clock.now() + copyMs })),
  );
  if (!copied.ok) {
    if (copied.error.effect === 'unknown') left(`a copy of thread ${threadId} that may have been made`);
    throw copied.error;
  }
  const copyId = copied.value.thread_id;
  try {
    signal?.throwIfAborted();
    const mark = markOf(courseId, clock.now() + lastsMs);
    const ttl = { ttl: Math.ceil(lastsMs / 60_000), strategy: 'delete' as const };
    const marked = await tryCall(server.patchThread(copyId, { ...mark, ttl }, { signal }));
    // A server without a time to live for threads.
    if (!marked.ok && marked.error.kind === 'rejected') await server.patchThread(copyId, mark, { signal });
    else if (!marked.ok) throw marked.error;
    return await tryCopy(copyId, conversation, server, shape, copying);
  } finally {
    await removeThread(copyId, `the copy ${copyId} of thread ${threadId}`, { agent: server, clock, signal, left });
  }
}

const markOf = (courseId: string, until: number) => ({ metadata: { ...markOfCopy(courseId, until) } });

const isMarkedAtOnce = (info: CallResult<ServerInfo>): boolean =>
  info.ok && info.value.flags?.[copyMetadataFlag] === true;

async function tryCopy(
  copyId: string,
  { before, live, assistantId }: Conversation,
  server: ConversationServer,
  changed: GraphShape,
  copying: CopyingOptions,
): Promise<CopyResult> {
  const { terms, signal } = copying;
  const read = await tryCall(server.getThreadState(copyId, { signal }));
  if (!read.ok && (read.error.kind === 'rejected' || read.error.status === 500)) {
    const status = `HTTP ${read.error.status}`;
    return { kind: 'broken', problems: [{ kind: 'no-state', status }], byRun: true };
  }
  if (!read.ok) throw read.error;
  const sides = { before, live, after: conversationState(read.value), changed };
  const problems = copying.compare ? await copying.compare(sides) : compareStates(sides);
  if (!problems) return { kind: 'unchecked', because: 'unjudged', why: 'comparing its state takes too much time' };
  if (problems.length > 0) return { kind: 'broken', problems, byRun: false };
  const run = (request: Omit<RunCreate, 'assistant_id'>) =>
    runCopy({ ...request, assistant_id: assistantId }, copyId, server, copying);
  const continuation = continuationOf(before, terms);
  if (continuation.kind === 'none') return { kind: 'goes-on', by: 'state' };
  const ended = await run({ input: continuation.kind === 'message' ? continuation.input : null });
  if (ended.kind === 'unchecked') return ended;
  if (ended.kind === 'failed') return failed(continuation.kind, ended.error);
  if (continuation.kind !== 'interrupt') return { kind: 'goes-on', by: continuation.kind };
  const { interrupts } = conversationState(await server.getThreadState(copyId, { signal }));
  const changes = compareInterrupts(before.interrupts, interrupts);
  if (changes.length > 0) return { kind: 'broken', problems: changes, byRun: true };
  const resume = resumeOf(interrupts, terms);
  if (!resume) return { kind: 'goes-on', by: 'interrupt' };
  const resumed = await run({ command: { resume: resume.value } });
  if (resumed.kind === 'unchecked') return resumed;
  return resumed.kind === 'failed' ? failed('resume', resumed.error) : { kind: 'goes-on', by: 'resume' };
}

type FailedStep = Extract<ConversationProblem, { kind: 'run-failed' }>['step'];

const failed = (step: FailedStep, error: string): CopyResult => ({
  kind: 'broken',
  problems: [{ kind: 'run-failed', step, error }],
  byRun: true,
});

/** Runs a copy to its end. Of an error only the name is kept: its message may quote the conversation. */
async function runCopy(
  request: RunCreate,
  copyId: string,
  server: ConversationServer,
  { terms: { timeoutMs }, clock, signal }: CopyingOptions,
): Promise<{ kind: 'ended' } | { kind: 'failed'; error: string } | Extract<CopyResult, { kind: 'unchecked' }>> {
  const marked: RunCreate = { ...request, metadata: copyMark, on_disconnect: 'cancel' };
  const deadline = clock.now() + timeoutMs;
  const ran = await withTimeLimit(clock, timeoutMs, signal, (bound) =>
    tryCall(server.waitRun(marked, copyId, { signal: bound, deadline })),
  );
  signal?.throwIfAborted();
  if (ran.kind !== 'done') {
    return { kind: 'unchecked', because: 'hangs', why: `a run did not end within ${timeoutMs / 1_000} s` };
  }
  if (!ran.value.ok) {
    const { error } = ran.value;
    // Either the assistant is missing or the copy, which another run may have removed.
    if (error.kind === 'missing') await server.getThread(copyId, { signal });
    if (error.kind === 'rejected' || error.kind === 'missing') return { kind: 'failed', error: `HTTP ${error.status}` };
    throw error;
  }
  const result = ran.value.value;
  if (result.kind === 'values') return { kind: 'ended' };
  if (providerFailure(result.error)) {
    return { kind: 'unchecked', because: 'provider', why: "the model's provider failed" };
  }
  return { kind: 'failed', error: /^[A-Za-z_$][\w$.]{0,79}$/.test(result.error.error) ? result.error.error : 'Error' };
}
