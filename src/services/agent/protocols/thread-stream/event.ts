import { fromJson } from '../../../../kit/json-text.ts';
import { lifecycleData, threadEventParams, type ThreadEventFilter } from '../../../../contract/agent/thread-stream.ts';
import { isObject } from '../../../../kit/json-object.ts';
import { attemptIds, type LoggedEvent } from '../../runs/event-log.ts';
import { inputEvent, lifecycleEvent } from '../../runs/thread-event-stream.ts';

/** The place of an event on its thread: the run by its order of acceptance, and the event's number in it. */
export interface ThreadCursor {
  sequence: number;
  id: number;
}

/**
 * Numbers that each run, and each attempt of it, has on its thread: every process computes the same. Above 2^53, after
 * half a billion runs, they would be inexact; attempts beyond the four millionth share one number.
 */
const perRun = 2 ** 24;
const perAttempt = 2 ** 22;

/** The number (`seq`) of an event on its thread. */
export function seqOf({ sequence, id }: ThreadCursor): number {
  const attempt = Math.min(Math.floor(id / attemptIds), perRun / perAttempt - 1);
  return sequence * perRun + attempt * perAttempt + Math.min(id % attemptIds, perAttempt - 1);
}

/** The place of the event with this number. */
export function cursorOf(seq: number): ThreadCursor {
  const inRun = seq % perRun;
  return {
    sequence: Math.floor(seq / perRun),
    id: Math.floor(inRun / perAttempt) * attemptIds + (inRun % perAttempt),
  };
}

/** The attempt of its run that an event is of. */
export const attemptOf = ({ id }: Pick<ThreadCursor, 'id'>): number => Math.floor(id / attemptIds) + 1;

/** Whether an event reports that its run has ended. */
export function reportsEnd({ event, json }: Pick<LoggedEvent, 'event' | 'json'>): boolean {
  if (event !== lifecycleEvent) return false;
  const params = threadEventParams.safeParse(fromJson(json));
  if (!params.success || params.data.namespace.length > 0) return false;
  const lifecycle = lifecycleData.safeParse(params.data.data);
  return lifecycle.success && lifecycle.data.event !== 'running' && lifecycle.data.event !== 'started';
}

/** An event of a run, in the form of the thread-stream protocol: the JSON of its parameters in `json`. */
export function threadEvent(at: ThreadCursor, { event, json }: Pick<LoggedEvent, 'event' | 'json'>): LoggedEvent {
  const seq = seqOf(at);
  return {
    id: seq,
    event,
    json: `{"type":"event","event_id":"${seq}","seq":${seq},"method":${JSON.stringify(event)},"params":${json}}`,
  };
}

/** The names of the events that channels have. */
export const eventsOfChannels = (channels: readonly string[]): string[] =>
  channels.map((channel) => (channel === 'input' ? inputEvent : (channel.split(':')[0] ?? channel)));

/** Whether a stream with this filter has an event. Its parameters (JSON) are only parsed where they decide. */
export function matchesFilter(
  { channels, namespaces = [], depth = Infinity }: Pick<ThreadEventFilter, 'channels' | 'namespaces' | 'depth'>,
  { event, json }: Pick<LoggedEvent, 'event' | 'json'>,
): boolean {
  const channel = event === inputEvent ? 'input' : event;
  const isCustom = event === 'custom' && !channels.includes('custom');
  if (!isCustom && !channels.includes(channel)) return false;
  if (!isCustom && namespaces.length === 0) return true;
  const params = threadEventParams.safeParse(fromJson(json));
  if (!params.success) return false;
  const { namespace, data } = params.data;
  if (isCustom && !(isObject(data) && channels.includes(`custom:${String(data['name'])}`))) return false;
  return (
    namespaces.length === 0 ||
    namespaces.some((prefix) => beginsWith(namespace, prefix) && namespace.length - prefix.length <= depth)
  );
}

/** Whether a path begins with another one, whose segments may leave out the ids of tasks (`node:id`). */
const beginsWith = (path: readonly string[], prefix: readonly string[]): boolean =>
  prefix.length <= path.length &&
  prefix.every((segment, at) => segment === path[at] || segment === path[at]?.split(':')[0]);
