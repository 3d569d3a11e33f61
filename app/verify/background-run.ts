import type { Clock } from '../../src/kit/clock.ts';
import type { SmokeTest } from '../../src/deploy/file/smoke-test.ts';
import type { Run, RunCreate } from '../../src/contract/agent/run.ts';
import type { AgentServer } from '../../src/contract/agent/service.ts';
import type { CallOptions } from '../../src/contract/call-options.ts';
import type { ServiceError } from '../../src/contract/service-error.ts';
import { tryCall } from '../../src/deploy/smoke/try-call.ts';
import { withTimeLimit } from '../../src/deploy/machine/deadlines.ts';
import { assistantWithContext } from '../../src/deploy/smoke/send-test-request.ts';

/** The longest that starting a run may take (ms), whatever the test's own time is. */
const startMs = 30_000;

/** The result of starting a run. After a failure thread, assistant and run may exist all the same. */
export type StartRunResult =
  | { kind: 'started'; run: Run; threadId: string; sentAt: number; refusedWebhook: boolean }
  | { kind: 'failed'; error: ServiceError }
  | { kind: 'too-slow' };

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
  if (started.kind !== 'done') return { kind: 'too-slow' };
  return started.value.ok ? started.value.value : { kind: 'failed', error: started.value.error };
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
