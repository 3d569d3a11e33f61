import type { Clock } from '../../src/kit/clock.ts';
import type { AgentServer } from '../../src/contract/agent/service.ts';
import type { CallOptions } from '../../src/contract/call-options.ts';
import { ServiceError } from '../../src/contract/service-error.ts';
import { tryCall, type CallResult } from '../../src/deploy/smoke/try-call.ts';
import { withTimeLimit } from '../../src/deploy/machine/deadlines.ts';
import type { AttemptResources, PreparedAttempt } from './progress.ts';

/**
 * Wraps the agent so that threads and assistants get ids that were chosen and stored beforehand: another process can
 * remove them if this one ends first.
 */
export function withChosenIds(agent: AgentServer, { threadId, assistantId }: PreparedAttempt): AgentServer {
  const chosen: Partial<AgentServer> = {
    createThread: (request, options) =>
      agent.createThread({ ...request, thread_id: threadId, if_exists: 'do_nothing' }, options),
    createAssistant: (request, options) =>
      agent.createAssistant(
        { ...request, ...(assistantId ? { assistant_id: assistantId, if_exists: 'do_nothing' } : {}) },
        options,
      ),
  };
  return overriding(agent, chosen);
}

/** The same object with other methods in the place of some. */
export const overriding = <T extends object>(original: T, methods: Partial<T>): T =>
  new Proxy(original, {
    get(target, name) {
      const member: unknown = Reflect.get(methods, name) ?? Reflect.get(target, name);
      // It may be an object of a class, whose methods need their own object.
      return typeof member === 'function'
        ? (...given: unknown[]): unknown => Reflect.apply(member, target, given)
        : member;
    },
  });

/**
 * The agent at the address of a hold, which may end at any time. What it made is in the database of the live agent too,
 * and is removed there where the address is gone: that everything is missing there says nothing.
 */
export function atHold(agent: AgentServer, live: AgentServer | undefined): AgentServer {
  const either = async (work: (at: AgentServer) => Promise<void>, options?: CallOptions): Promise<void> => {
    const tried = await tryCall(work(agent));
    if (tried.ok) return;
    const health = await tryCall(agent.ok(options));
    if (health.ok) throw tried.error;
    if (live) return work(live);
    const { operation, method, address, status, detail, effect } = health.error;
    throw new ServiceError({ kind: 'unreachable', operation, method, address, status, detail, effect });
  };
  return overriding(agent, {
    deleteThread: (id, options) => either((at) => at.deleteThread(id, options), options),
    deleteAssistant: (id, options) => either((at) => at.deleteAssistant(id, options), options),
    cancelRun: (id, runId, request, options) => either((at) => at.cancelRun(id, runId, request, options), options),
  });
}

export interface CleanupContext {
  agent: AgentServer;
  clock: Clock;
  signal: AbortSignal;
  /** Receives what could not be removed, and why. */
  left: (what: string) => void;
}

/** Timeout of the cleanup of one attempt (ms), and the delay between attempts on a busy thread. */
const cleanupMs = 10_000;
const betweenMs = 500;

/** Removes what was made for an attempt. What is not there is removed already. Rejects only when the signal ends it. */
export async function cleanUp(
  { test, threadId, assistantId, runId }: AttemptResources,
  cleanup: CleanupContext,
): Promise<void> {
  const { agent, clock, signal, left } = cleanup;
  if (threadId !== undefined) {
    const problem = await removeThread(threadId, cleanup, async (options) => {
      // A thread with an active run may not be removable. Cancelling a finished run fails without harm.
      if (runId !== undefined) await tryCall(agent.cancelRun(threadId, runId, {}, options));
    });
    if (problem !== undefined) left(`smoke test ${test} could not remove thread ${threadId} (${problem})`);
  }
  if (assistantId !== undefined) {
    const problem = await inTime({ clock, signal }, async (options) =>
      problemOf(await tryCall(agent.deleteAssistant(assistantId, options))),
    );
    if (problem !== undefined) left(`smoke test ${test} could not remove assistant ${assistantId} (${problem})`);
  }
}

/** Removes a thread once no run keeps it busy. @returns why it could not be removed; undefined if it is gone */
export const removeThread = (
  threadId: string,
  { agent, clock, signal }: Pick<CleanupContext, 'clock' | 'signal'> & { agent: Pick<AgentServer, 'deleteThread'> },
  before: (options: CallOptions) => Promise<void> = async () => undefined,
): Promise<string | undefined> =>
  inTime({ clock, signal }, async (options) => {
    await before(options);
    for (;;) {
      const removed = await tryCall(agent.deleteThread(threadId, options));
      const isBusy = !removed.ok && removed.error.kind === 'conflict';
      if (!isBusy || clock.now() + betweenMs >= options.deadline) return problemOf(removed);
      await clock.sleep(betweenMs, options.signal);
    }
  });

/** What work comes to within the time for a cleanup. */
async function inTime(
  { clock, signal }: Pick<CleanupContext, 'clock' | 'signal'>,
  work: (options: { signal: AbortSignal; deadline: number }) => Promise<string | undefined>,
): Promise<string | undefined> {
  const deadline = clock.now() + cleanupMs;
  const done = await withTimeLimit(clock, cleanupMs, signal, (bound) => work({ signal: bound, deadline }));
  signal.throwIfAborted();
  return done.kind === 'done' ? done.value : 'it took too long';
}

/** Why something could not be removed; undefined if it is gone. */
const problemOf = (removed: CallResult<void>): string | undefined =>
  removed.ok || removed.error.kind === 'missing' ? undefined : removed.error.message;
