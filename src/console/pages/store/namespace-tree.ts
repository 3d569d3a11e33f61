import { fromJson } from '../../../kit/json-text.ts';

/** A namespace in the tree, which also has those without items of their own. */
export interface NamespaceRow {
  namespace: readonly string[];
  label: string;
  depth: number;
}

/** The namespaces of a store as a tree, each after its parent, in the order of their labels. */
export function toNamespaceTree(namespaces: readonly (readonly string[])[]): NamespaceRow[] {
  const all = new Map<string, readonly string[]>();
  for (const namespace of namespaces) {
    for (let length = 1; length <= namespace.length; length += 1) {
      const part = namespace.slice(0, length);
      all.set(JSON.stringify(part), part);
    }
  }
  return [...all.values()].sort(byLabels).map((namespace) => ({
    namespace,
    label: namespace.at(-1) ?? '',
    depth: namespace.length - 1,
  }));
}

function byLabels(one: readonly string[], other: readonly string[]): number {
  for (let index = 0; index < Math.min(one.length, other.length); index += 1) {
    const [left = '', right = ''] = [one[index], other[index]];
    if (left !== right) return left < right ? -1 : 1;
  }
  return one.length - other.length;
}

/** Reads the namespace in the page's URL: a JSON list of labels. Any other text is the root. */
export function readNamespace(text: string | undefined): readonly string[] {
  const value = fromJson(text ?? '[]');
  return Array.isArray(value) && value.every((label) => typeof label === 'string') ? value : [];
}
