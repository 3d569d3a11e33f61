import {
  errorEvent,
  metadataEvent,
  metadataEventData,
  splitEventName,
  type StreamEvent,
  type StreamMode,
} from '../../contract/agent/stream-event.ts';
import { toRunError, type RunError } from '../../contract/agent/run.ts';
import { isObject } from '../../kit/json-object.ts';
import type { Evidence } from '../rules/verdict-types.ts';

/** The key under which a graph reports an interrupt. */
export const interruptKey = '__interrupt__';

/** How many visited nodes are kept: an agent may report them without end. */
const maxNodes = 2_000;

/** The state read from a stream so far. Times are ms since the epoch. */
export interface StreamState {
  sentAt: number;
  /** The modes that the test requests: the client adds others, which do not count as the first event. */
  requested: readonly StreamMode[];
  runId: string | undefined;
  firstAt: number | undefined;
  lastAt: number | undefined;
  nodes: readonly string[];
  values: unknown;
  /** What the values report of an interrupt, where that came without them. */
  interrupts: { [interruptKey]?: unknown };
  interrupted: boolean;
  error: RunError | undefined;
}

/** An answer of which nothing has come: `sentAt` is ms since the epoch. */
export function initialStreamState(sentAt: number, requested: readonly StreamMode[]): StreamState {
  return {
    sentAt,
    requested,
    runId: undefined,
    firstAt: undefined,
    lastAt: undefined,
    nodes: [],
    values: undefined,
    interrupts: {},
    interrupted: false,
    error: undefined,
  };
}

/** The answer after one more event. A run is timed by its events: when the connection closes says nothing. */
export function applyEvent(answer: StreamState, { event, data }: StreamEvent, at: number): StreamState {
  const { mode, namespace } = splitEventName(event);
  if (mode === metadataEvent) {
    const reported = metadataEventData.safeParse(data);
    return { ...answer, lastAt: at, runId: reported.success ? reported.data.run_id : answer.runId };
  }
  const isRequested = mode === errorEvent || answer.requested.some((each) => isOfMode(mode, each));
  const isFirst = isRequested && !repeatsInput(mode, data);
  const after = { ...answer, lastAt: at, firstAt: answer.firstAt ?? (isFirst ? at : undefined) };
  if (mode === errorEvent) return { ...after, error: toRunError(data) };
  // Events of a subgraph report its own state and nodes, not those of the run.
  if (namespace.length > 0) return after;
  const names = isObject(data) ? Object.keys(data) : [];
  // Nodes parallel to the interrupted one still finish, and their values follow. The run stays interrupted.
  const interrupted = after.interrupted || names.includes(interruptKey);
  if (mode === 'values') return { ...after, ...valuesAfter(after.values, data, names), interrupted };
  if (mode !== 'updates') return after;
  const nodes = names.filter((name) => !name.startsWith('__')).slice(0, maxNodes - after.nodes.length);
  return { ...after, nodes: nodes.length > 0 ? [...after.nodes, ...nodes] : after.nodes, interrupted };
}

/** Values that report only an interrupt leave the state unchanged. */
function valuesAfter(
  former: unknown,
  data: unknown,
  names: readonly string[],
): Pick<StreamState, 'values' | 'interrupts'> {
  const isNothingElse = names.length === 1 && names[0] === interruptKey && isObject(data);
  return isNothingElse && isObject(former)
    ? { values: former, interrupts: { [interruptKey]: data[interruptKey] } }
    : { values: data, interrupts: {} };
}

/** Messages go by names of their own: `messages/partial` in one mode, plain `messages` in the other. */
function isOfMode(name: string, mode: StreamMode): boolean {
  return name === mode || name.startsWith(`${mode}/`) || (mode === 'messages-tuple' && name === 'messages');
}

/** The messages of the input come back before the agent has said anything. */
const repeatsInput = (name: string, data: unknown): boolean =>
  name === 'messages/complete' &&
  Array.isArray(data) &&
  data.every((message) => isObject(message) && message['type'] === 'human');

/** What the stream proves once it has ended. */
export function evidenceOf(answer: StreamState): Evidence {
  const { sentAt, firstAt, lastAt, nodes, error, interrupts, interrupted } = answer;
  const values =
    interruptKey in interrupts && isObject(answer.values) ? { ...answer.values, ...interrupts } : answer.values;
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
