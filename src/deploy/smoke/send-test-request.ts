import { isUuid } from '../../kit/uuid.ts';
import type { SmokeTest } from '../file/smoke-test.ts';
import type { AgentServer } from '../../contract/agent/service.ts';
import type { StreamMode } from '../../contract/agent/stream-event.ts';
import type { CallOptions } from '../../contract/call-options.ts';
import type { ServiceError } from '../../contract/service-error.ts';
import { hadItsTime } from '../rules/patience.ts';
import type { Evidence } from '../rules/verdict-types.ts';
import { removeResources, type MadeResources, type RemovalContext } from './remove-resources.ts';
import { applyEvent, evidenceOf, initialStreamState, type StreamState } from './smoke-evidence.ts';
import { tryCall } from './try-call.ts';
import { withTimeLimit } from '../machine/deadlines.ts';

/** The agent under test and the dependencies of a request. */
export type TestRequestContext = RemovalContext<AgentServer>;

/** How long an agent may take to say whether it is healthy (ms). */
const healthMs = 10_000;

/**
 * Sends one request to the agent and reads the whole response, within the test's time. The thread and the assistant
 * created for it are always removed. Rejects only when the signal aborts.
 */
export async function sendTestRequest(test: SmokeTest, asking: TestRequestContext): Promise<Evidence> {
  const { clock, signal } = asking;
  const made: CreatedResources = {};
  try {
    const deadline = clock.now() + test.timeoutMs;
    const requested = await withTimeLimit(clock, test.timeoutMs, signal, (bound) =>
      tryCall(runTest(test, asking, { signal: bound, deadline }, made)),
    );
    signal?.throwIfAborted();
    if (requested.kind !== 'done') {
      return unfinished(test, made.seen);
    }
    return requested.value.ok ? requested.value.value : await evidenceOfFailure(requested.value.error, asking);
  } finally {
    await removeResources(made, asking);
  }
}

/** What the time was not enough for: an agent that began the run and did not end it hangs. */
function unfinished(test: SmokeTest, seen: StreamState | undefined): Evidence {
  const why = `no whole answer within ${test.timeoutMs} ms`;
  if (seen?.runId === undefined || !hadItsTime(test, test.timeoutMs)) return { kind: 'unreachable', why };
  const node = seen.nodes.at(-1);
  const where = node === undefined ? 'before its first node had ended' : `after the node ${node}`;
  const since = new Date(seen.lastAt ?? seen.sentAt).toISOString();
  return { kind: 'unreachable', fault: 'hangs', why: `${why}: it hangs since ${since}, ${where}` };
}

interface CreatedResources extends MadeResources {
  /** What has come of the answer. */
  seen?: StreamState;
}

async function runTest(
  test: SmokeTest,
  { agent, clock }: TestRequestContext,
  options: CallOptions,
  made: CreatedResources,
): Promise<Evidence> {
  made.assistantId = await assistantWithContext(test, agent, options);
  if (test.thread) made.threadId = (await agent.createThread({}, options)).thread_id;
  const request = {
    assistant_id: made.assistantId ?? test.assistant,
    input: test.input,
    stream_mode: withOurs(test.streamModes),
    on_disconnect: 'cancel' as const,
  };
  let answer = initialStreamState(clock.now(), test.streamModes);
  for await (const event of agent.streamRun(request, made.threadId, options)) {
    answer = applyEvent(answer, event, clock.now());
    made.seen = answer;
  }
  const evidence = evidenceOf(answer);
  return made.threadId === undefined ? evidence : confirmed(evidence, answer, made.threadId, { agent, clock }, options);
}

/** The id of an assistant that is made for the context of a test; undefined where it has none. */
export async function assistantWithContext(
  { assistant, context, name }: SmokeTest,
  agent: AgentServer,
  options: CallOptions,
): Promise<string | undefined> {
  if (context === undefined) return undefined;
  const graphId = isUuid(assistant) ? (await agent.getAssistant(assistant, options)).graph_id : assistant;
  const request = { graph_id: graphId, context, name: `Landfall smoke test: ${name}` };
  return (await agent.createAssistant(request, options)).assistant_id;
}

/** `values` brings the final state and `updates` the nodes, whatever the test wants to see of the stream. */
const withOurs = (requested: readonly StreamMode[]): StreamMode[] => [
  ...new Set([...requested, 'values', 'updates'] as const),
];

/** How long a run may take to report its end after its stream ended, and the time between two polls (ms). */
const endingMs = 5_000;
const betweenMs = 250;

/**
 * A stream has no last event, so a truncated stream looks complete. Read the status of the run on its thread: if it is
 * still running, the stream was incomplete.
 */
async function confirmed(
  evidence: Evidence,
  { runId }: StreamState,
  threadId: string,
  { agent, clock }: Pick<TestRequestContext, 'agent' | 'clock'>,
  options: CallOptions,
): Promise<Evidence> {
  if (evidence.kind !== 'answered' || evidence.status === 'error' || runId === undefined) return evidence;
  for (const until = clock.now() + endingMs; ;) {
    const run = await tryCall(agent.getRun(threadId, runId, options));
    // Without the run's status, the stream's own status counts.
    if (!run.ok) return evidence;
    const { status } = run.value;
    if (status === 'interrupted') return { ...evidence, status: 'interrupted' };
    if (status === 'error' || status === 'timeout') {
      return { ...evidence, status: 'error', error: { error: status, message: 'the run says so, its stream did not' } };
    }
    if (status !== 'running' && status !== 'pending') return evidence;
    if (clock.now() >= until) {
      return { kind: 'unreachable', why: `the stream ended while the run went on (${status})` };
    }
    await clock.sleep(betweenMs, options.signal ?? undefined);
  }
}

/**
 * A refusal is an answer: an error. A server that is unreachable, not ready, or rejects the key proves nothing. A 404
 * can be either: it counts as an answer if the server is healthy.
 */
export async function evidenceOfFailure(
  error: ServiceError,
  { agent, clock, signal }: Pick<TestRequestContext, 'agent' | 'clock' | 'signal'>,
): Promise<Evidence> {
  const refusal = { error: `HTTP ${error.status ?? error.kind}`, message: error.detail ?? error.message };
  const refused: Evidence = {
    kind: 'answered',
    status: 'error',
    values: undefined,
    error: refusal,
    refused: true,
    nodes: [],
    firstEventMs: undefined,
    totalMs: 0,
  };
  if (error.kind === 'rejected') return refused;
  if (error.kind === 'missing' && (await tryCall(agent.ok({ signal, deadline: clock.now() + healthMs }))).ok) {
    return refused;
  }
  return { kind: 'unreachable', why: error.message, ...blameOf(error) };
}

/** What a failure says of the caller and of the agent. */
export const blameOf = ({ kind, status }: ServiceError): { denied?: true; fault?: 'server-error' } => ({
  ...(kind === 'unauthorized' ? { denied: true } : {}),
  // A proxy answers 502 to 504 in the place of an agent; 500 is the agent's own.
  ...(status === 500 ? { fault: 'server-error' } : {}),
});
