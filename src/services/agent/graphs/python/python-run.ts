import * as z from 'zod';
import { isObject } from '../../../../kit/json-object.ts';
import { wholeStateMode } from '../../runs/engine-run.ts';
import type { StatefulGraph } from '../stateful.ts';
import { jsonOf, type Answer, type Asked } from './connection.ts';
import { describedError } from './worker-error.ts';
import { memberOf } from '../../members.ts';

export type EventOptions = Parameters<StatefulGraph['streamEvents']>[1];

/** A command of the API, which the worker makes one of the agent's engine. */
export class PythonCommand {
  readonly command: object;

  constructor(command: object) {
    this.command = command;
  }
}

/** A run as the worker reads it. */
export function runRequest(input: unknown, options: Omit<EventOptions, 'version'>) {
  const { configurable, metadata, runId, tags, recursionLimit, streamMode = ['values'], subgraphs = false } = options;
  return {
    config: { configurable, metadata, run_id: runId, tags, recursion_limit: recursionLimit },
    args: {
      ...(input instanceof PythonCommand ? { command: input.command } : { input }),
      modes: streamMode,
      subgraphs,
      context: options.context,
      interrupt_before: options.interruptBefore,
      interrupt_after: options.interruptAfter,
      durability: options.durability,
      steps: options.callbacks !== undefined,
    },
  };
}

const header = z.object({ mode: z.string(), namespace: z.array(z.string()) });

/** The chunk of a run, or the event of something inside it, in the form that the engine for JavaScript has. */
export function chunkOf(
  answer: Answer,
  { subgraphs = false, runId }: Omit<EventOptions, 'version'>,
  op: 'run' | 'events',
): unknown {
  const { mode, namespace } = header.parse(answer.value);
  const payload = payloadOf(mode, answer, namespace);
  if (mode === 'events') return payload;
  const chunk = subgraphs ? [namespace, mode, payload] : [mode, payload];
  return op === 'run' ? chunk : { event: 'on_chain_stream', run_id: runId, data: { chunk } };
}

function payloadOf(mode: string, answer: Answer, namespace: readonly string[]): unknown {
  const payload = jsonOf(answer);
  if (mode === 'messages') {
    const [message, metadata]: unknown[] = Array.isArray(payload) ? payload : [];
    const grown = jsonOf(answer, 1);
    return [
      grown === null || !isObject(message) ? asMessage(message) : new PythonMessageChunk(message, grown),
      metadata,
    ];
  }
  if ((mode === 'values' || mode === wholeStateMode) && namespace.length === 0) return withMessages(payload);
  return inNamesOfEngine(mode, payload);
}

/** A checkpoint in the names that the engine for JavaScript has. */
function inNamesOfEngine(mode: string, payload: unknown): unknown {
  if (!isObject(payload)) return payload;
  if (mode === 'debug' && payload['type'] === 'checkpoint')
    return { ...payload, payload: inNamesOfEngine('checkpoints', payload['payload']) };
  if (mode !== 'checkpoints') return payload;
  const { parent_config: parentConfig, ...rest } = payload;
  return { ...rest, parentConfig };
}

// What a worker tells of the executions of nodes (docs/design/python-worker.md#steps).

const args = z.object({
  step: z.string(),
  node: z.string().optional(),
  namespace: z.string().nullish(),
  tags: z.array(z.string()).default([]),
  error: z.unknown().optional(),
});

/** Hands a step to the handlers of the run, which take it as the engine in this process would tell it. */
export function takeStep({ op, args: given, attachments }: Asked, handlers: readonly object[]): Answer {
  const { step, node, namespace, tags, error } = args.parse(given);
  const value = jsonOf({ attachments });
  const call = (name: string, ...values: unknown[]): void => {
    for (const handler of handlers) {
      const method = memberOf(handler, name);
      if (typeof method === 'function') Reflect.apply(method, handler, values);
    }
  };
  if (op === 'step.start') {
    const metadata = { langgraph_node: node, langgraph_checkpoint_ns: namespace };
    call('handleChainStart', null, value, step, undefined, tags, metadata);
  } else if (op === 'step.end') {
    call('handleChainEnd', value, step);
  } else {
    call('handleChainError', describedError(error) ?? { is_bubble_up: true }, step);
  }
  return {};
}

const messageShape = z.looseObject({ type: z.string(), content: z.unknown() });

/** A message of a graph in Python, which is plain JSON, with the methods by which this server recognizes messages. */
class PythonMessage {
  constructor(json: Record<string, unknown>) {
    Object.assign(this, json);
  }

  toDict(): { type: string; data: object } {
    const { type, ...data } = messageShape.parse(this);
    return { type, data };
  }
}

/** A piece of a message, with the message so far: the worker puts the pieces together, since it has their classes. */
class PythonMessageChunk extends PythonMessage {
  readonly #grown: unknown;

  constructor(json: Record<string, unknown>, grown: unknown) {
    super(json);
    this.#grown = grown;
  }

  get grown(): unknown {
    return this.#grown;
  }
}

/** The values of a state, with its messages as such. */
function withMessages(values: unknown): unknown {
  const read = z.looseObject({ messages: z.array(z.unknown()) }).safeParse(values);
  if (!read.success) return values;
  return { ...Object(values), messages: read.data.messages.map(asMessage) };
}

/** A message, if the value is one. */
const asMessage = (value: unknown): unknown =>
  isObject(value) && messageShape.safeParse(value).success ? new PythonMessage(value) : value;
