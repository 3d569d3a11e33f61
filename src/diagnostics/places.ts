import { isAlias, isMap, isScalar, isSeq, type Document, type LineCounter, type Node } from 'yaml';
import type { FieldPath, Place, Places } from './problem.ts';

/** A node on the way down a path: offsets into the text. */
interface Step {
  node: Node | null | undefined;
  key: number | undefined;
}

/** Offsets of what lies at a path, or of the nearest thing around it where `whole` is false. */
export interface Found {
  value: number | undefined;
  key: number | undefined;
  whole: boolean;
}

/** The places of a text whose lines were counted. */
export function placesOf(find: (path: FieldPath) => Found, lines: LineCounter, file: string): Places {
  const at = (offset: number | undefined): Place => placeAt(lines, offset ?? 0);
  return {
    file,
    placeOf: (path) => {
      const { value, key, whole } = find(path);
      return at(whole ? (value ?? key) : (key ?? value));
    },
    placeOfKey: (path) => {
      const { value, key } = find(path);
      return at(key ?? value);
    },
  };
}

/** The line and column of an offset. An empty text has no lines to count: its only place is the first. */
export function placeAt(lines: LineCounter, offset: number): Place {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(1, line), column: Math.max(1, col) };
}

/** Goes down in a document as far as the path leads. */
export function findIn(document: Document.Parsed, path: FieldPath): Found {
  let step: Step = { node: document.contents, key: undefined };
  for (const part of path) {
    const next = stepInto(document, step.node, part);
    if (!next) return { value: step.node?.range?.[0], key: step.key, whole: false };
    step = next;
  }
  return { value: step.node?.range?.[0], key: step.key, whole: true };
}

function stepInto(document: Document.Parsed, from: Step['node'], part: string | number): Step | undefined {
  const node = isAlias(from) ? from.resolve(document) : from;
  if (isSeq<Node>(node)) {
    const item = typeof part === 'number' ? node.items[part] : undefined;
    return item && { node: item, key: undefined };
  }
  if (!isMap<Node, Node | null>(node)) return undefined;
  const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(part));
  return pair && { node: pair.value, key: pair.key.range?.[0] };
}
