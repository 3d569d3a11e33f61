import { isAlias, isMap, isNode, isScalar, isSeq, Scalar, visit, type Document, type Node, type YAMLMap } from 'yaml';

export type AnyMap = YAMLMap;

/** What each alias of a document names. */
export type AliasTargets = ReadonlyMap<unknown, Node>;

/** What a text with merge keys may unfold to, in nodes: they copy what they merge, and copies may be merged again. */
const maxUnfolded = 50_000;

/** Whether a key is the merge key `<<` (https://yaml.org/type/merge.html). In quotes it is a key like any other. */
export const isMergeKey = (key: unknown): boolean =>
  isScalar(key) && key.value === '<<' && (key.type === undefined || key.type === Scalar.PLAIN);

/** The maps that a map merges, first those that win; undefined in the place of what can't be merged. */
export function mergedMaps(map: AnyMap, targets: AliasTargets): (AnyMap | undefined)[] {
  const resolve = (node: unknown): unknown => (isAlias(node) ? targets.get(node) : node);
  const merged = map.items.filter(({ key }) => isMergeKey(key)).map(({ value }) => resolve(value));
  const sources = merged.flatMap((value) => (isSeq(value) ? value.items.map(resolve) : [value]));
  return sources.map((source) => (isMap(source) ? source : undefined));
}

/** Reads the aliases of a document once: the library looks for each of them in the whole document. */
export function aliasTargetsOf(document: Document.Parsed): AliasTargets {
  const anchors = new Map<string, Node>();
  const targets = new Map<unknown, Node>();
  visit(document, (_, node) => {
    if (!isNode(node)) return;
    if (!isAlias(node)) {
      if (node.anchor) anchors.set(node.anchor, node);
      return;
    }
    const target = anchors.get(node.source);
    if (target) targets.set(node, target);
  });
  return targets;
}

/** Whether a document without faults merges maps and its value would be larger than is read. */
export function unfoldsTooFar({ contents }: Document.Parsed, targets: AliasTargets): boolean {
  const sizes = new Map<unknown, number>();
  let merges = false;
  const sizeOf = (node: unknown): number => {
    const known = sizes.get(node);
    if (known !== undefined) return known;
    let size = 1;
    if (isAlias(node)) size = sizeOf(targets.get(node));
    else if (isMap(node)) {
      merges ||= node.items.some(({ key }) => isMergeKey(key));
      for (const { value } of node.items) size += sizeOf(value);
    } else if (isSeq(node)) for (const item of node.items) size += sizeOf(item);
    sizes.set(node, size);
    return size;
  };
  return sizeOf(contents) > maxUnfolded && merges;
}
