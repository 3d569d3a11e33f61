import * as z from 'zod';

/** The stream modes: `updates` and `events` are the specification's (section "Endpoints"), the rest the public servers'. */
export const runStreamModes = [
  'values',
  'updates',
  'messages',
  'messages-tuple',
  'events',
  'debug',
  'tasks',
  'checkpoints',
  'custom',
  'tools',
] as const;
export type StreamMode = (typeof runStreamModes)[number];

/** Event names that are no stream mode: the first event of every stream, and the last one of a failed run. */
export const metadataEvent = 'metadata';
export const errorEvent = 'error';

/** Separates an event's name from its subgraph: `updates|outer:1|inner:2`. */
export const namespaceSeparator = '|';

/** A server-sent event of a run. `event` may include a namespace; `id` is set if the stream can be resumed. */
export interface StreamEvent {
  id?: string;
  event: string;
  data: unknown;
}

/** Data of the first event of every stream: the run. */
export const metadataEventData = z.looseObject({ run_id: z.string(), attempt: z.int().nullish() });

/** Splits an event's name: `updates|a|b` is mode `updates` in the subgraph `['a', 'b']`. */
export function splitEventName(event: string): { mode: string; namespace: string[] } {
  const [mode = '', ...namespace] = event.split(namespaceSeparator);
  return { mode, namespace };
}
