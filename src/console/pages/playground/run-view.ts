import { toRunError, type RunError } from '../../../contract/agent/run.ts';
import { isObject } from '../../../kit/json-object.ts';
import { metadataEventData, splitEventName, type StreamEvent } from '../../../contract/agent/stream-event.ts';
import { addChunk, messagesOf, readMessage, type ChatMessage } from './messages.ts';
import type { LogEntry } from '../../../contract/control/log.ts';

/** The status of a node in a run. */
export type NodeStatus = 'running' | 'done' | 'failed' | 'waiting';

/** A message that is being streamed. */
interface StreamedMessage {
  raw: Record<string, unknown>;
  shown: ChatMessage;
}

/** The state of a run, reduced from its events. */
export interface RunView {
  runId: string;
  attempt: number;
  /** The id of the last event; `-1` before the first. */
  lastEventId: string;
  /** The newest state of the graph, not of its subgraphs. */
  values: unknown;
  streamed: readonly StreamedMessage[];
  /** By path: `inner:classify`. */
  nodes: ReadonlyMap<string, NodeStatus>;
  failure: RunError | undefined;
}

export const emptyRun = (runId: string): RunView => ({
  runId,
  attempt: 0,
  lastEventId: '-1',
  values: undefined,
  streamed: [],
  nodes: new Map(),
  failure: undefined,
});

/** The path of a node: `sort:0a72…` and `classify` are `sort:classify`, as in the drawing. */
const pathOf = (namespace: readonly string[], name: string): string =>
  [...namespace.map((part) => part.split(':', 1)[0]), name].join(':');

/** The view after one more event. An event that it already includes changes nothing. */
export function reduceRun(view: RunView, { id, event, data }: StreamEvent): RunView {
  if (id !== undefined && Number(id) <= Number(view.lastEventId)) return view;
  const next = id === undefined ? view : { ...view, lastEventId: id };
  const { mode, namespace } = splitEventName(event);
  if (mode === 'metadata') return startAttempt(next, data);
  if (mode === 'error') {
    return { ...next, failure: toRunError(data) };
  }
  if (mode === 'tasks') return withTask(next, namespace, data);
  if (mode === 'messages') return withChunk(next, data);
  if (mode === 'values' && namespace.length === 0) return withValues(next, data);
  return next;
}

/** Resets the view for a new attempt, which repeats everything after the last stored step. */
function startAttempt(view: RunView, data: unknown): RunView {
  const parsed = metadataEventData.safeParse(data);
  const attempt = (parsed.success ? parsed.data.attempt : undefined) ?? view.attempt;
  if (attempt === view.attempt || view.attempt === 0) return { ...view, attempt };
  return { ...emptyRun(view.runId), attempt, lastEventId: view.lastEventId, values: view.values };
}

function withValues(view: RunView, data: unknown): RunView {
  if (!isObject(data)) return { ...view, values: data };
  const { __interrupt__: interrupts, ...values } = data;
  // An event that has only interrupts has no state.
  if (interrupts !== undefined && Object.keys(values).length === 0) return view;
  const stored = new Set(messagesOf(values)?.map(({ id }) => id));
  const streamed = view.streamed.filter(({ shown }) => !stored.has(shown.id));
  return { ...view, values, streamed };
}

function withTask(view: RunView, namespace: readonly string[], data: unknown): RunView {
  if (!isObject(data) || typeof data['name'] !== 'string') return view;
  const hasEnded = 'result' in data || 'error' in data;
  const interrupts = data['interrupts'];
  const isWaiting = Array.isArray(interrupts) && interrupts.length > 0;
  const failed = data['error'] !== undefined && data['error'] !== null;
  const status: NodeStatus = !hasEnded ? 'running' : failed ? 'failed' : isWaiting ? 'waiting' : 'done';
  return { ...view, nodes: new Map(view.nodes).set(pathOf(namespace, data['name']), status) };
}

function withChunk(view: RunView, data: unknown): RunView {
  const chunk: unknown = Array.isArray(data) ? data[0] : undefined;
  if (!isObject(chunk)) return view;
  const shown = readMessage(chunk, view.streamed.length);
  if (!shown || messagesOf(view.values)?.some(({ id }) => id === shown.id)) return view;
  const index = view.streamed.findIndex((message) => message.shown.id === shown.id);
  const raw = addChunk(view.streamed[index]?.raw, chunk);
  const message = { raw, shown: readMessage(raw, view.streamed.length) ?? shown };
  return { ...view, streamed: index < 0 ? [...view.streamed, message] : view.streamed.with(index, message) };
}

/** The statuses of all nodes after a run: those that were still running have failed. */
export function endedNodes(view: RunView, hasFailed: boolean): ReadonlyMap<string, NodeStatus> {
  const nodes = new Map(view.nodes);
  const running = [...nodes].filter(([, status]) => status === 'running').map(([path]) => path);
  for (const path of running) nodes.set(path, 'failed');
  // The engine reports a node that threw as ended without a result.
  const last = [...nodes.keys()].at(-1);
  if (hasFailed && running.length === 0 && last !== undefined) nodes.set(last, 'failed');
  return nodes;
}

/** The text of an error in a log: the line that reports it, and the indented lines of its stack after it. */
export function stackIn(logs: readonly LogEntry[], first: LogEntry): string {
  const start = logs.findIndex(({ id, message }) => id === first.id && message === first.message);
  const below = start < 0 ? [] : logs.slice(start + 1);
  const end = below.findIndex(({ message }) => !/^\s+\S/.test(message));
  return [first, ...(end < 0 ? below : below.slice(0, end))].map(({ message }) => message).join('\n');
}
