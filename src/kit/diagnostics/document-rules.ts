import { isAlias, isCollection, isMap, isNode, isScalar, visit, type Document, type Node, type YAMLMap } from 'yaml';
import { mergedMaps, type AliasTargets } from './merge-keys.ts';
import { shortName } from './problem.ts';

/** Something in a document that parses and yet cannot become a plain value. */
export interface Irregularity {
  offset: number;
  message: string;
}

/**
 * What the parser lets pass: duplicate keys, aliases of nothing or of themselves, merge keys that merge no map, numbers
 * that JSON cannot carry.
 */
export function irregularitiesOf(document: Document.Parsed, targets: AliasTargets): Irregularity[] {
  const irregularities: Irregularity[] = [];
  visit(document, (_, node) => {
    if (!isNode(node)) return;
    const addProblem = (message: string, at: Node = node) => void irregularities.push({ offset: startOf(at), message });
    if (isAlias(node)) {
      const named = targets.get(node);
      if (!named) addProblem('no anchor before this alias has its name');
      else if (isCollection(named) && holds(named, node)) addProblem('this alias stands within what it names');
      return;
    }
    if (isMap(node)) {
      for (const key of keysWrittenTwice(node)) addProblem(`\`${shortName(key.name)}\` is written twice`, key.node);
      if (mergedMaps(node, targets).includes(undefined)) addProblem(wrongMerge);
    }
    if (!isScalar(node) || typeof node.value !== 'number') return;
    const fault = numberFault(node.value, node.source ?? '');
    if (fault !== undefined) addProblem(fault);
  });
  return irregularities;
}

const wrongMerge = 'a merge key (`<<`) takes a map, an alias of one, or a list of these';

/** Why JSON cannot carry a number that was written so. */
export function numberFault(value: number, written: string): string | undefined {
  if (!Number.isFinite(value)) return 'infinity and "not a number" cannot be sent: write a number';
  const isLost = /^[-+]?\d+$/.test(written) && !Number.isSafeInteger(value);
  return isLost ? 'this number is too large to be kept: put it in quotes' : undefined;
}

function keysWrittenTwice(map: YAMLMap): { name: string; node: Node }[] {
  const seen = new Set<string>();
  const twice: { name: string; node: Node }[] = [];
  for (const { key } of map.items) {
    if (!isScalar(key)) continue;
    const name = String(key.value);
    if (seen.has(name)) twice.push({ name, node: key });
    seen.add(name);
  }
  return twice;
}

const startOf = (node: Node): number => node.range?.[0] ?? 0;

const holds = (node: Node, inner: Node): boolean =>
  startOf(node) <= startOf(inner) && startOf(inner) < (node.range?.[2] ?? 0);

/** The first alias of a document: where a rejected expansion is reported. */
export function firstAlias(document: Document.Parsed): number {
  let offset = 0;
  visit(document, {
    Alias: (_, alias) => {
      offset = startOf(alias);
      return visit.BREAK;
    },
  });
  return offset;
}
