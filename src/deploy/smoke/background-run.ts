import type { Clock } from '../../kit/clock.ts';
import { isObject } from '../../kit/json-object.ts';
import {
  finalRunStatuses,
  type FinalRunStatus,
  type Run,
  type RunCreate,
  type RunError,
} from '../../contract/agent/run.ts';
import type { AgentServer } from '../../contract/agent/service.ts';
import type { ThreadState } from '../../contract/agent/thread.ts';
import type { CallOptions } from '../../contract/call-options.ts';
import { isTransient, type ServiceError } from '../../contract/service-error.ts';
import type { Expectation, SmokeTest } from '../file/smoke-test.ts';
import { withTimeLimit } from '../machine/deadlines.ts';
import { hadItsTime } from '../rules/patience.ts';
import { isCompared } from '../rules/series.ts';
import type { Evidence } from '../rules/verdict-types.ts';
import { assistantWithContext, blameOf, evidenceOfFailure } from './send-test-request.ts';
import { interruptKey } from './smoke-evidence.ts';
import { tryCall } from './try-call.ts';

/** Expectations about a stream's events: the nodes, and the times of the first and the last event. */
const ofTheStream: readonly Expectation['kind'][] = ['nodes', 'first-event', 'total'];

/** Whether a test needs a stream, or can be judged by what a run left behind. */
export const needsStream = (test: Pick<SmokeTest, 'expect' | 'series'>): boolean =>
  isCompared(test) || test.expect.some(({ kind }) => ofTheStream.includes(kind));

/** The longest that starting a run may take (ms), whatever the test's own time is. */
const startMs = 30_000;

/** The result of starting a run. After a failure thread, assistant and run may exist all the same. */
export type StartRunResult =
  | { kind: 'started'; run: Run; threadId: string; sentAt: number; refusedWebhook: boolean }
  | { kind: 'failed'; evidence: Evidence };

export interface StartRunOptions {
  /** With the ids that were chosen. */
  agent: AgentServer;
  clock: Clock;
  signal: AbortSignal;
  /** Where the agent reports the end of the run, with the token in it. */
  webhook: string | undefined;
}

/** Starts the run of a test on a thread of its own, in the background. Rejects only when the signal ends it. */
export async function startRun(test: SmokeTest, starting: StartRunOptions): Promise<StartRunResult> {
  const { clock, signal } = starting;
  const ms = Math.min(startMs, test.timeoutMs);
  const deadline = clock.now() + ms;
  const started = await withTimeLimit(clock, ms, signal, (bound) =>
    tryCall(createRun(test, starting, { signal: bound, deadline })),
  );
  signal.throwIfAborted();
  if (started.kind !== 'done') {
    return { kind: 'failed', evidence: { kind: 'unreachable', why: 'the agent took too long to begin a run' } };
  }
  return started.value.ok
    ? started.value.value
    : { kind: 'failed', evidence: await evidenceOfFailure(started.value.error, starting) };
}

async function createRun(
  test: SmokeTest,
  { agent, clock, webhook }: StartRunOptions,
  options: CallOptions,
): Promise<StartRunResult> {
  const assistant = (await assistantWithContext(test, agent, options)) ?? test.assistant;
  const { thread_id: threadId } = await agent.createThread({}, options);
  const request: RunCreate = { assistant_id: assistant, input: test.input };
  const about = { kind: 'started', threadId, sentAt: clock.now() } as const;
  const first = await tryCall(agent.createRun(webhook ? { ...request, webhook } : request, threadId, options));
  if (first.ok) return { ...about, run: first.value, refusedWebhook: false };
  if (webhook === undefined || !isRefusal(first.error)) throw first.error;
  // Whether the address was the reason shows when the same run is taken without it.
  return { ...about, run: await agent.createRun(request, threadId, options), refusedWebhook: true };
}

const isRefusal = ({ status = 0, effect }: ServiceError): boolean =>
  effect === 'none' && status >= 400 && status < 500 && status !== 429;

/** The result of one poll of a background run. */
export type PollResult =
  | { kind: 'going-on'; why: string; isRunning?: true; fault?: 'server-error' }
  /** `ended`: nothing is left that could be cancelled. */
  | { kind: 'evidence'; evidence: Evidence; ended: boolean };

/** Timeout of one poll (ms), and how long after a test's timeout its run is still polled. */
const lookMs = 15_000;
const graceMs = 10_000;

/** A run in the background. Times are ms since the epoch. */
export interface BackgroundRun {
  threadId: string;
  runId: string;
  sentAt: number;
  deadline: number;
}

/** `isExpired`: whether a time has come, which was so many ms away when it was set. */
export interface PollingContext {
  agent: AgentServer;
  clock: Clock;
  signal: AbortSignal;
  isExpired: (deadline: number, ms: number) => boolean;
}

/** Polls a run, and reads its final state. Rejects only when the signal aborts it. */
export async function pollRun(
  test: SmokeTest,
  requested: BackgroundRun,
  { agent, clock, signal, isExpired }: PollingContext,
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
  const isLate = isExpired(requested.deadline + spareMs, test.timeoutMs + spareMs);
  if (seen.kind === 'evidence' || !isLate) return seen;
  const { sentAt } = requested;
  const isHanging = seen.isRunning && hadItsTime(test, requested.deadline - sentAt);
  const hangs = isHanging ? `it hangs since ${new Date(sentAt).toISOString()}, for ` : '';
  const why = `no whole answer within ${test.timeoutMs} ms: ${hangs}${seen.why}`;
  const fault = isHanging ? 'hangs' : seen.fault;
  return { kind: 'evidence', evidence: { kind: 'unreachable', why, ...(fault && { fault }) }, ended: false };
}

function seenOf(error: ServiceError): PollResult {
  const { kind, message: why } = error;
  if (kind === 'missing') {
    return { kind: 'evidence', evidence: { kind: 'unreachable', why: `the run is gone: ${why}` }, ended: true };
  }
  const { denied, fault } = blameOf(error);
  if (denied) return { kind: 'evidence', evidence: { kind: 'unreachable', why, denied }, ended: false };
  return { kind: 'going-on', why, ...(fault && { fault }) };
}

async function look(
  { threadId, runId, sentAt }: BackgroundRun,
  agent: AgentServer,
  clock: Clock,
  options: CallOptions,
) {
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
  { threadId, runId }: Pick<BackgroundRun, 'threadId' | 'runId'>,
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
