/** How many tokens models took and gave. */
export interface Usage {
  input: number;
  output: number;
  total: number;
}

/**
 * What the messages tell that a run added to the state, summed; undefined where none tells anything. A message tells in
 * `usage_metadata`, as the engine's messages do, whichever list of the state it stands in.
 *
 * @param before the state that the run began with, whose messages are others' work.
 */
export function usageOf(before: unknown, after: unknown): Usage | undefined {
  const former = new Set(messagesIn(before).map(keyOf));
  let sum: Usage | undefined;
  for (const message of messagesIn(after)) {
    if (former.has(keyOf(message))) continue;
    const reported: unknown = Reflect.get(message, 'usage_metadata');
    if (typeof reported !== 'object' || reported === null) continue;
    const [input, output] = [count(reported, 'input_tokens'), count(reported, 'output_tokens')];
    const total = count(reported, 'total_tokens') || input + output;
    if (total === 0) continue;
    sum = { input: (sum?.input ?? 0) + input, output: (sum?.output ?? 0) + output, total: (sum?.total ?? 0) + total };
  }
  return sum;
}

/** Everything in the lists of a state that might be a message. */
function messagesIn(state: unknown): object[] {
  if (typeof state !== 'object' || state === null || Array.isArray(state)) return [];
  return Object.values(state).flatMap((channel: unknown) =>
    Array.isArray(channel) ? channel.filter((each): each is object => typeof each === 'object' && each !== null) : [],
  );
}

/** What a message is known by: its id, or itself where it has none. */
function keyOf(message: object): unknown {
  const id: unknown = Reflect.get(message, 'id');
  return typeof id === 'string' ? id : message;
}

/** A whole number of at least nothing; nothing for anything else. */
function count(reported: object, name: string): number {
  const value: unknown = Reflect.get(reported, name);
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0;
}
