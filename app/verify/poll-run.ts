import type { Clock } from '../../src/kit/clock.ts';
import type { SmokeTest } from '../../src/deploy/file/smoke-test.ts';
import { finalRunStatuses, type FinalRunStatus, type Run, type RunError } from '../../src/contract/agent/run.ts';
import type { AgentServer } from '../../src/contract/agent/service.ts';
import type { ThreadState } from '../../src/contract/agent/thread.ts';
import type { CallOptions } from '../../src/contract/call-options.ts';
import { isObject } from '../../src/kit/json-object.ts';
import { isTransient, type ServiceError } from '../../src/contract/service-error.ts';
import { hadItsTime } from '../../src/deploy/rules/patience.ts';
import type { Evidence } from '../../src/deploy/rules/verdict-types.ts';
import { tryCall } from '../../src/deploy/smoke/try-call.ts';
import { withTimeLimit } from '../../src/deploy/machine/deadlines.ts';
import { isExpired } from '../reconcile/deadlines.ts';
import type { RunProgress } from './progress.ts';

/** The result of one poll of a background run. */
export type PollResult =
  | { kind: 'going-on'; why: string; isRunning?: true }
  /** `ended`: nothing is left that could be cancelled. */
  | { kind: 'evidence'; evidence: Evidence; ended: boolean };

/** Timeout of one poll (ms), and how long after a test's timeout its run is still polled. */
const lookMs = 15_000;
const graceMs = 10_000;

/** The key that marks an interrupted graph, in a stream and here. */
const interruptKey = '__interrupt__';

/** Polls a run, and reads its final state. Rejects only when the signal aborts it. */
export async function pollRun(
  test: SmokeTest,
  requested: RunProgress,
  { agent, clock, signal }: { agent: AgentServer; clock: Clock; signal: AbortSignal },
): Promise<PollResult> {
  const deadline = clock.now() + lookMs;
  const looked = await withTimeLimit(clock, lookMs, signal, (bound) =>
    tryCall(look(requested, agent, clock, { signal: bound, deadline })),
  );
  signal.throwIfAborted();
  const seen: PollResult =
    looked.kind !== 'done'
      ? { kind: 'going-on', why: 'the agent did not report the run in time' }
      : looked.value.ok
        ? looked.value.value
        : seenOf(looked.value.error);
  const spareMs = looked.kind === 'done' && looked.value.ok ? 0 : graceMs;
  const isLate = isExpired(clock, requested.runId, requested.deadline + spareMs, test.timeoutMs + spareMs);
  if (seen.kind === 'evidence' || !isLate) return seen;
  const { sentAt } = requested;
  const isHanging = seen.isRunning && hadItsTime(test, requested.deadline - sentAt);
  const hangs = isHanging ? `it hangs since ${new Date(sentAt).toISOString()}, for ` : '';
  const why = `no whole answer within ${test.timeoutMs} ms: ${hangs}${seen.why}`;
  const fault = isHanging ? ({ fault: 'hangs' } as const) : {};
  return { kind: 'evidence', evidence: { kind: 'unreachable', why, ...fault }, ended: false };
}

function seenOf({ kind, message }: ServiceError): PollResult {
  if (kind !== 'missing') return { kind: 'going-on', why: message };
  return { kind: 'evidence', evidence: { kind: 'unreachable', why: `the run is gone: ${message}` }, ended: true };
}

async function look({ threadId, runId, sentAt }: RunProgress, agent: AgentServer, clock: Clock, options: CallOptions) {
  const run = await agent.getRun(threadId, runId, options);
  const status = finalRunStatuses.find((word) => word === run.status);
  if (status === undefined) {
    const running = run.status === 'running' ? ({ isRunning: true } as const) : {};
    return { kind: 'going-on', why: `the run is ${run.status}`, ...running } satisfies PollResult;
  }
  const seenMs = clock.now() - sentAt;
  const state = await tryCall(agent.getThreadState(threadId, options));
  // A failed run is reported as failed, even without its state.
  if (!state.ok && status === 'success') throw state.error;
  const evidence: Evidence = {
    kind: 'answered',
    ...(state.ok ? endOf(status, state.value) : { status: wordOf(status), values: undefined }),
    ...(wordOf(status) === 'error' ? { error: await errorOf(status, { threadId, runId }, agent, options) } : {}),
    nodes: [],
    firstEventMs: undefined,
    totalMs: Math.min(seenMs, durationOf(run) ?? seenMs),
  };
  return { kind: 'evidence', evidence, ended: true } satisfies PollResult;
}

type EvidenceStatus = 'success' | 'error' | 'interrupted';
const wordOf = (status: FinalRunStatus): EvidenceStatus => (status === 'timeout' ? 'error' : status);

/** Some servers end an interrupted run as `success`: its thread shows the interrupt. */
function endOf(
  status: FinalRunStatus,
  { values, tasks, interrupts }: ThreadState,
): { status: EvidenceStatus; values: unknown } {
  const waitingFor = interrupts?.length ? interrupts : (tasks ?? []).flatMap((task) => task.interrupts ?? []);
  if (waitingFor.length === 0 || wordOf(status) === 'error') return { status: wordOf(status), values };
  return { status: 'interrupted', values: isObject(values) ? { ...values, [interruptKey]: waitingFor } : values };
}

/** The run's error as the server reports it, if it still does. */
async function errorOf(
  status: FinalRunStatus,
  { threadId, runId }: { threadId: string; runId: string },
  agent: AgentServer,
  options: CallOptions,
): Promise<RunError> {
  const joined = await tryCall(agent.joinRun(threadId, runId, options));
  // Without the error, a failure of the model's provider would look like one of the agent.
  if (!joined.ok && isTransient(joined.error)) throw joined.error;
  if (joined.ok && joined.value.kind === 'error') return joined.value.error;
  return { error: status, message: 'the run says so, and no more' };
}

/** How long the run took by the server's own clock (ms); undefined if its times make no sense. */
function durationOf({ created_at, updated_at }: Run): number | undefined {
  const ms = Date.parse(updated_at) - Date.parse(created_at);
  return Number.isFinite(ms) && ms > 0 ? ms : undefined;
}
