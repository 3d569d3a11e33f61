import type { AgentServer } from '../../contract/agent/service.ts';
import type { CallOptions } from '../../contract/call-options.ts';
import { ServiceError } from '../../contract/service-error.ts';
import type { Clock } from '../../kit/clock.ts';
import { overriding } from '../../kit/overriding.ts';
import { withGrace, withTimeLimit } from '../machine/deadlines.ts';
import { tryCall } from './try-call.ts';

/** What an attempt made at the agent. Names the run if it may still be active. */
export interface MadeResources {
  threadId?: string | undefined;
  assistantId?: string | undefined;
  runId?: string | undefined;
}

/** The agent that made what is removed, and the dependencies. */
export interface RemovalContext<Agent> {
  agent: Agent;
  clock: Clock;
  signal?: AbortSignal | undefined;
  /** Receives what could not be removed, and why. */
  left: (what: string) => void;
}

/** How long removing one thing may take (ms), normally and after cancellation, and the time between tries on a busy thread. */
const removalMs = 10_000;
export const graceMs = 1_000;
const betweenMs = 500;

/** Removes what was made for an attempt. What is not there is removed already. Rejects only when the signal aborts. */
export async function removeResources(
  { threadId, assistantId, runId }: MadeResources,
  removal: RemovalContext<Pick<AgentServer, 'deleteThread' | 'deleteAssistant' | 'cancelRun'>>,
): Promise<void> {
  const { agent, signal } = removal;
  // A thread with an active run may not be removable. Cancelling a finished run fails without harm.
  const cancel = async (options: CallOptions): Promise<void> => {
    if (threadId !== undefined && runId !== undefined) await tryCall(agent.cancelRun(threadId, runId, {}, options));
  };
  const removeAssistant = (options: CallOptions) => agent.deleteAssistant(assistantId ?? '', options);
  await Promise.all([
    threadId !== undefined &&
      remove(`thread ${threadId}`, (options) => agent.deleteThread(threadId, options), removal, cancel),
    assistantId !== undefined && remove(`assistant ${assistantId}`, removeAssistant, removal),
  ]);
  signal?.throwIfAborted();
}

/** Removes a thread once no run keeps it busy. Rejects only when the signal aborts. */
export async function removeThread(
  threadId: string,
  what: string,
  { agent, ...removal }: RemovalContext<Pick<AgentServer, 'deleteThread'>>,
): Promise<void> {
  await remove(what, (options) => agent.deleteThread(threadId, options), removal);
  removal.signal?.throwIfAborted();
}

async function remove(
  what: string,
  work: (options: CallOptions) => Promise<void>,
  { clock, signal, left }: Omit<RemovalContext<never>, 'agent'>,
  before?: (options: CallOptions) => Promise<void>,
): Promise<void> {
  const deadline = clock.now() + removalMs;
  const untilFree = async (bound: AbortSignal) => {
    const options = { deadline, signal: bound };
    await before?.(options);
    for (;;) {
      const removed = await tryCall(work(options));
      const isBusy = !removed.ok && removed.error.kind === 'conflict';
      if (!isBusy || clock.now() + betweenMs >= deadline) return removed;
      await clock.sleep(betweenMs, bound);
    }
  };
  const tried = await withGrace(clock, graceMs, signal, (late) => withTimeLimit(clock, removalMs, late, untilFree));
  if (tried.kind !== 'done') left(`${what} (it took too long)`);
  else if (!tried.value.ok && tried.value.error.kind !== 'missing') left(`${what} (${tried.value.error.message})`);
}

/** The calls that remove what was made, by a server that may not make all of it. */
type Removing = Pick<AgentServer, 'ok' | 'deleteThread'> & Partial<Pick<AgentServer, 'deleteAssistant' | 'cancelRun'>>;

/**
 * The agent at the address of a hold, which may end at any time. What it made is in the database of the live agent too,
 * and is removed there where the address is gone: that everything is missing there says nothing.
 */
export function atHold<Agent extends Removing>(held: Agent, live: () => Removing | undefined): Agent {
  const either = async (work: (at: Removing) => Promise<void> | undefined, options?: CallOptions): Promise<void> => {
    const tried = await tryCall(work(held) ?? Promise.resolve());
    if (tried.ok) return;
    const health = tried.error.kind === 'missing' ? await tryCall(held.ok(options)) : undefined;
    if (health?.ok) throw tried.error;
    const serving = live();
    if (serving) return work(serving);
    if (!health) throw tried.error;
    const { operation, method, address, status, detail, effect } = health.error;
    throw new ServiceError({ kind: 'unreachable', operation, method, address, status, detail, effect });
  };
  return overriding<Removing, Agent>(held, {
    deleteThread: (id, options) => either((at) => at.deleteThread(id, options), options),
    deleteAssistant: (id, options) => either((at) => at.deleteAssistant?.(id, options), options),
    cancelRun: (id, runId, request, options) => either((at) => at.cancelRun?.(id, runId, request, options), options),
  });
}
