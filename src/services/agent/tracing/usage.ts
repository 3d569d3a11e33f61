import { toPlainNumber } from '../../../kit/exact-number.ts';
import { isObject } from '../../../kit/json-object.ts';
import { memberOf } from '../members.ts';

export interface Usage {
  input: number;
  output: number;
  total: number;
}

/**
 * Sums up the `usage_metadata` of the messages that a run added to the state; undefined without any. @param before the
 * state at the start, whose messages don't count.
 */
export function usageOf(before: unknown, after: unknown): Usage | undefined {
  const former = new Set(messagesIn(before).map(keyOf));
  let sum: Usage | undefined;
  for (const message of messagesIn(after)) {
    if (former.has(keyOf(message))) continue;
    const reported = memberOf(message, 'usage_metadata');
    const [input, output] = [count(reported, 'input_tokens'), count(reported, 'output_tokens')];
    const total = count(reported, 'total_tokens') || input + output;
    if (total === 0) continue;
    sum = { input: (sum?.input ?? 0) + input, output: (sum?.output ?? 0) + output, total: (sum?.total ?? 0) + total };
  }
  return sum;
}

/** All objects in the lists of a state that may be messages. */
function messagesIn(state: unknown): object[] {
  if (!isObject(state)) return [];
  return Object.values(state).flatMap((channel: unknown) =>
    Array.isArray(channel) ? channel.filter((each): each is object => typeof each === 'object' && each !== null) : [],
  );
}

/** The identity of a message: its id, or the object itself. */
function keyOf(message: object): unknown {
  const id = memberOf(message, 'id');
  return typeof id === 'string' ? id : message;
}

/** A non-negative integer; 0 for anything else. */
function count(reported: unknown, name: string): number {
  const value = toPlainNumber(memberOf(reported, name));
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0;
}
