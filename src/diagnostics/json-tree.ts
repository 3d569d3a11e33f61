import { numberFault, type Oddity } from './document-rules.ts';
import type { Found } from './places.ts';
import { shortName, type FieldPath } from './problem.ts';
import { syntaxWords } from './syntax.ts';

/** Where a value of a JSON text begins, and what it holds: by key in a map, by index in a list. */
interface JsonNode {
  offset: number;
  key: number | undefined;
  inner: Map<string | number, JsonNode> | undefined;
}

/** Deeper values exhaust the stack of those who walk through them. */
const deepest = 500;

/** The places in a text that `JSON.parse` accepts, and what is odd about it. */
export function jsonTree(text: string): { find: (path: FieldPath) => Found; oddities: Oddity[] } {
  const root: JsonNode = { offset: 0, key: undefined, inner: new Map() };
  const oddities: Oddity[] = [];
  const open: { node: JsonNode; isMap: boolean }[] = [{ node: root, isMap: false }];
  let key: { name: string; offset: number } | undefined;
  for (const { offset, text: token } of jsonTokens(text)) {
    const around = open.at(-1);
    if (token === ',' || token === ':' || around === undefined) continue;
    if (token === '}' || token === ']') {
      open.pop();
      continue;
    }
    const within = around.node.inner ?? new Map<string | number, JsonNode>();
    if (around.isMap && key === undefined) {
      const name = String(JSON.parse(token));
      key = { name, offset };
      if (within.has(name)) oddities.push({ offset, message: `\`${shortName(name)}\` is written twice` });
      continue;
    }
    const isMap = token === '{';
    const node: JsonNode = { offset, key: key?.offset, inner: isMap || token === '[' ? new Map() : undefined };
    within.set(key?.name ?? within.size, node);
    key = undefined;
    if (node.inner) {
      open.push({ node, isMap });
      if (open.length <= deepest) continue;
      oddities.push({ offset, message: syntaxWords.RESOURCE_EXHAUSTION });
      break;
    }
    const message = /^[-\d]/.test(token) ? numberFault(Number(token), token) : undefined;
    if (message !== undefined) oddities.push({ offset, message });
  }
  return { find: (path) => find(root, path), oddities };
}

function find(root: JsonNode, path: FieldPath): Found {
  let node = root.inner?.get(0) ?? root;
  for (const part of path) {
    const next = node.inner?.get(part);
    if (!next) return { value: node.offset, key: node.key, whole: false };
    node = next;
  }
  return { value: node.offset, key: node.key, whole: true };
}

/** One piece of a text that is meant to be JSON. */
interface JsonToken {
  offset: number;
  text: string;
}

/** A bracket, comma or colon; a text in double quotes, which may lack its end; or a run of anything else. */
const piece = /[{}[\],:]|"[^"\\]*(?:\\[^][^"\\]*)*"?|[^\s{}[\],:"]+/g;

/** The pieces of a text, without the space between them. A text that is no JSON has pieces as well. */
export function* jsonTokens(text: string): Generator<JsonToken> {
  for (const found of text.matchAll(piece)) yield { offset: found.index, text: found[0] };
}
