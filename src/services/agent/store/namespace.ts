export const maxLabels = 64;

/** The maximum size (bytes) of a namespace's labels and a key together: the limit of a Postgres index. */
export const maxAddressBytes = 2000;

const reservedRoot = 'langgraph';

function textProblem(what: string, text: unknown): string | undefined {
  if (typeof text !== 'string') return `${what} must be a string`;
  if (text === '') return `${what} can't be empty`;
  if (text.includes('\0') || !text.isWellFormed())
    return `${what} can't hold the character NUL or half of a surrogate pair`;
  return undefined;
}

/** What is wrong with the labels of a namespace, or of its prefix or suffix; undefined if valid. */
export function labelsProblem(labels: unknown): string | undefined {
  if (!Array.isArray(labels)) return 'a namespace must be a list of strings';
  if (labels.length > maxLabels) return `a namespace has at most ${maxLabels} labels`;
  for (const label of labels) {
    const problem = textProblem('a label of a namespace', label);
    if (problem !== undefined) return problem;
    if (String(label).includes('.')) return "a label of a namespace can't hold a period";
  }
  return undefined;
}

/** What is wrong with the namespace of an item; undefined if valid. */
export function namespaceProblem(namespace: unknown): string | undefined {
  const problem = labelsProblem(namespace);
  if (problem !== undefined || !Array.isArray(namespace)) return problem;
  if (namespace.length === 0) return "a namespace can't be empty";
  if (namespace[0] === reservedRoot) return `a namespace can't begin with "${reservedRoot}", which the engine keeps`;
  return undefined;
}

/** What is wrong with the key of an item in a valid namespace; undefined if valid. */
export function keyProblem(key: unknown, namespace: readonly string[]): string | undefined {
  const problem = textProblem('a key', key);
  if (problem !== undefined || typeof key !== 'string') return problem;
  const bytes = [...namespace, key].reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  return bytes > maxAddressBytes ? `namespace and key take at most ${maxAddressBytes} bytes` : undefined;
}

/**
 * All namespaces with the labels of `prefix`, including itself, as a range: `from` inclusive, `to` exclusive. Undefined
 * for every namespace.
 *
 * Labels are compared whole and by their bytes, and contain no NUL: so nothing sorts between a label and the same label
 * followed by the smallest character.
 */
export function rangeBelow(prefix: readonly string[]): { from: string[]; to: string[] } | undefined {
  const last = prefix.at(-1);
  if (last === undefined) return undefined;
  return { from: [...prefix], to: [...prefix.slice(0, -1), `${last}\u0001`] };
}
