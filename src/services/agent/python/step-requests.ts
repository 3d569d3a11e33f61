import * as z from 'zod';
import { memberOf } from '../members.ts';
import { describedError, jsonOf, type Answer, type Asked } from './connection.ts';

// What a worker tells of the executions of nodes (docs/design/python-worker.md, "Steps").

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
