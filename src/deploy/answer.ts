import {
  ERROR_EVENT,
  ErrorEventData,
  METADATA_EVENT,
  MetadataEventData,
  splitEventName,
  UpdatesEventData,
  type StreamEvent,
  type StreamMode,
} from '../contract/agent/stream-event.ts';
import type { Evidence } from '../planning/verdict-types.ts';

/** The state read from a stream so far. Times are ms since the epoch. */
export interface Answer {
  sentAt: number;
  /** The modes that the test requests: the client adds others, which do not count as the first event. */
  requested: readonly StreamMode[];
  runId: string | undefined;
  firstAt: number | undefined;
  lastAt: number | undefined;
  nodes: readonly string[];
  values: unknown;
  interrupted: boolean;
  error: { error: string; message: string } | undefined;
}

/** An answer of which nothing has come: `sentAt` is ms since the epoch. */
export function unanswered(sentAt: number, requested: readonly StreamMode[]): Answer {
  return {
    sentAt,
    requested,
    runId: undefined,
    firstAt: undefined,
    lastAt: undefined,
    nodes: [],
    values: undefined,
    interrupted: false,
    error: undefined,
  };
}

/** The key under which a graph reports an interrupt. */
const interruptKey = '__interrupt__';

/** The answer after one more event. A run is timed by its events: when the connection closes says nothing. */
export function answerAfter(answer: Answer, { event, data }: StreamEvent, at: number): Answer {
  const { mode, namespace } = splitEventName(event);
  if (mode === METADATA_EVENT) {
    const reported = MetadataEventData.safeParse(data);
    return { ...answer, lastAt: at, runId: reported.success ? reported.data.run_id : answer.runId };
  }
  const isRequested = mode === ERROR_EVENT || answer.requested.some((each) => isOfMode(mode, each));
  const after = { ...answer, lastAt: at, firstAt: answer.firstAt ?? (isRequested ? at : undefined) };
  if (mode === ERROR_EVENT) return { ...after, error: errorIn(data) };
  // Events of a subgraph report its own state and nodes, not those of the run.
  if (namespace.length > 0) return after;
  const members = UpdatesEventData.safeParse(data);
  const names = members.success ? Object.keys(members.data) : [];
  // Nodes parallel to the interrupted one still finish, and their values follow. The run stays interrupted.
  const interrupted = after.interrupted || names.includes(interruptKey);
  if (mode === 'values') return { ...after, values: valuesAfter(after.values, data), interrupted };
  if (mode !== 'updates') return after;
  const nodes = names.filter((name) => !name.startsWith('__'));
  return { ...after, nodes: [...after.nodes, ...nodes], interrupted };
}

/** Values that report only an interrupt leave the state unchanged. */
function valuesAfter(former: unknown, data: unknown): unknown {
  const [before, now] = [UpdatesEventData.safeParse(former), UpdatesEventData.safeParse(data)];
  const isNothingElse = now.success && Object.keys(now.data).join() === interruptKey;
  return before.success && isNothingElse ? { ...before.data, ...now.data } : data;
}

/** Messages go by names of their own: `messages/partial` in one mode, plain `messages` in the other. */
function isOfMode(name: string, mode: StreamMode): boolean {
  return name === mode || name.startsWith(`${mode}/`) || (mode === 'messages-tuple' && name === 'messages');
}

function errorIn(data: unknown): { error: string; message: string } {
  const reported = ErrorEventData.safeParse(data);
  if (reported.success) return { error: reported.data.error, message: reported.data.message };
  return { error: 'Error', message: typeof data === 'string' ? data : (JSON.stringify(data) ?? '') };
}

/** What the stream proves once it has ended. */
export function evidenceOf(answer: Answer): Evidence {
  const { sentAt, firstAt, lastAt, nodes, values, error, interrupted } = answer;
  if (lastAt === undefined || (values === undefined && nodes.length === 0 && !error && firstAt === undefined)) {
    return { kind: 'unreachable', why: 'the stream ended before it brought any answer' };
  }
  return {
    kind: 'answered',
    status: error ? 'error' : interrupted ? 'interrupted' : 'success',
    values,
    ...(error ? { error } : {}),
    nodes,
    firstEventMs: firstAt === undefined ? undefined : firstAt - sentAt,
    totalMs: lastAt - sentAt,
  };
}
