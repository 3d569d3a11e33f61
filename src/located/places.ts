import { isAlias, isMap, isScalar, isSeq, type Document, type LineCounter, type Node } from 'yaml';
import type { FieldPath, Place, Places } from './problem.ts';

/** A node on the way down a path: offsets into the text. */
interface Step {
  node: Node | null | undefined;
  key: number | undefined;
}

/** The places of everything in a document that was parsed with this line counter. */
export function placesIn(document: Document.Parsed, lines: LineCounter, file: string): Places {
  const at = (offset: number | undefined): Place => placeAt(lines, offset ?? 0);
  return {
    file,
    placeOf: (path) => {
      const { step, whole } = walk(document, path);
      const value = step.node?.range?.[0];
      return at(whole ? (value ?? step.key) : (step.key ?? value));
    },
    placeOfKey: (path) => {
      const { step } = walk(document, path);
      return at(step.key ?? step.node?.range?.[0]);
    },
  };
}

/** The line and column of an offset. An empty text has no lines to count: its only place is the first. */
export function placeAt(lines: LineCounter, offset: number): Place {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(1, line), column: Math.max(1, col) };
}

/** Goes down as far as the path leads; `whole` where it led to its end. */
function walk(document: Document.Parsed, path: FieldPath): { step: Step; whole: boolean } {
  let step: Step = { node: document.contents, key: undefined };
  for (const part of path) {
    const next = stepInto(document, step.node, part);
    if (!next) return { step, whole: false };
    step = next;
  }
  return { step, whole: true };
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
