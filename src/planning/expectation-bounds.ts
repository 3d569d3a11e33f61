import { deepestValues } from '../config/json-path.ts';

/** How much of a stranger's values is looked at. */
export interface Bounds {
  /** Maps, lists and single values together. */
  nodes: number;
  /** Characters of all texts and keys together. */
  text: number;
}

/**
 * Why a value is not judged, or undefined where it is within the bounds. It looks at no more than the bounds allow,
 * and keeps a list of its own in the place of the call stack, so that no value makes it slow or breaks it.
 */
export function tooLarge(value: unknown, most: Bounds): string | undefined {
  const waiting: { value: unknown; depth: number }[] = [{ value, depth: 0 }];
  let nodes = 1;
  let text = 0;
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    if (typeof next.value === 'string') text += next.value.length;
    if (typeof next.value === 'object' && next.value !== null) {
      if (next.depth >= deepestValues) return `values nested deeper than ${deepestValues}`;
      for (const key in next.value) {
        nodes += 1;
        text += Array.isArray(next.value) ? 0 : key.length;
        if (nodes > most.nodes) return `more than ${most.nodes} values`;
        waiting.push({ value: Reflect.get(next.value, key), depth: next.depth + 1 });
      }
    }
    if (text > most.text) return `more than ${most.text} characters`;
  }
  return undefined;
}
