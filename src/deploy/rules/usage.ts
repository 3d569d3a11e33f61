import type { Prices } from '../file/smoke-test.ts';
import { isObject } from '../../kit/json-object.ts';

/** What the messages of an answer report of how it came about. */
export interface Usage {
  /** Undefined where no message reports tokens. */
  tokens: number | undefined;
  /** Undefined where there are no tokens, or those of a model without a price. */
  cost: number | undefined;
  /** The tools that were called, in order. */
  tools: readonly string[];
}

/** How much of the values is looked through. */
const bounds = { values: 20_000, depth: 6, tools: 50 };

type Message = Record<string, unknown>;

/** Reads all messages of the final values, wherever a graph keeps them. */
export function usageOf(values: unknown, prices: Prices = {}): Usage {
  const messages = messagesIn(values);
  const used = messages.flatMap((message) => usedBy(message) ?? []);
  const costs = used.map(({ model, input, output }) => costOf(model, { input, output }, prices));
  return {
    tokens: used.length === 0 ? undefined : sum(used.map(({ total }) => total)),
    cost: used.length === 0 || costs.includes(undefined) ? undefined : sum(costs.map((cost = 0) => cost)),
    tools: messages.flatMap(toolsOf).slice(0, bounds.tools),
  };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, each) => all + each, 0);

/** The messages of a model, each once: a graph may keep one in several places. */
function messagesIn(values: unknown): Message[] {
  const found = new Map<unknown, Message>();
  let seen = 0;
  const visit = (value: unknown, depth: number): void => {
    seen += 1;
    if (seen > bounds.values || depth > bounds.depth) return;
    if (Array.isArray(value)) {
      for (const each of value) visit(each, depth + 1);
    } else if (isObject(value)) {
      if (isObject(value['usage_metadata']) || Array.isArray(value['tool_calls'])) {
        const id = value['id'];
        found.set(typeof id === 'string' ? id : value, value);
      } else for (const each of Object.values(value)) visit(each, depth + 1);
    }
  };
  visit(values, 0);
  return [...found.values()];
}

function usedBy(message: Message): { model: string; input: number; output: number; total: number } | undefined {
  const [usage, response] = [message['usage_metadata'], message['response_metadata']];
  if (!isObject(usage)) return undefined;
  const [input, output] = [amountOf(usage['input_tokens']), amountOf(usage['output_tokens'])];
  const total =
    amountOf(usage['total_tokens']) ?? (input !== undefined && output !== undefined ? input + output : undefined);
  if (total === undefined) return undefined;
  const named = isObject(response) ? (response['model_name'] ?? response['model']) : undefined;
  // Without a model or its halves the tokens are counted, and have no price.
  const model = typeof named === 'string' && input !== undefined && output !== undefined ? named : '';
  return { model, input: input ?? 0, output: output ?? 0, total };
}

const amountOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;

/** Models report the date of their version: `gpt-4o-2024-08-06`, `claude-sonnet-4-20250514`. */
const versionDate = /-(?:\d{8}|\d{4}-\d{2}-\d{2})$/;

function costOf(
  model: string,
  { input, output }: { input: number; output: number },
  prices: Prices,
): number | undefined {
  const name = [model, model.replace(versionDate, '')].find((each) => Object.hasOwn(prices, each));
  const price = name === undefined ? undefined : prices[name];
  return price && (input * price.input + output * price.output) / 1_000_000;
}

function toolsOf({ tool_calls: calls }: Message): string[] {
  if (!Array.isArray(calls)) return [];
  return calls.flatMap((call: unknown) => {
    // As LangChain reports a call, and as OpenAI does.
    const named = isObject(call) && isObject(call['function']) ? call['function'] : call;
    return isObject(named) && typeof named['name'] === 'string' ? [named['name']] : [];
  });
}
