import { numberFault, type Irregularity } from './document-rules.ts';
import { type NodeOffsets, syntaxWords } from './positions.ts';
import { type FieldPath, shortName } from './problem.ts';

/** Where a value of a JSON text begins, and what it holds: by key in a map, by index in a list. */
interface JsonNode {
  offset: number;
  key: number | undefined;
  inner: Map<string | number, JsonNode> | undefined;
}

/** Deeper values exhaust the stack of those who walk through them. */
const deepest = 500;

/** More values are no configuration; holding each against a schema would take too long. */
const maxValues = 5_000;

/** The places in a text that `JSON.parse` accepts, and what is odd about it. */
export function jsonTree(text: string): { find: (path: FieldPath) => NodeOffsets; oddities: Irregularity[] } {
  const root: JsonNode = { offset: 0, key: undefined, inner: new Map() };
  const oddities: Irregularity[] = [];
  const open: { node: JsonNode; isMap: boolean }[] = [{ node: root, isMap: false }];
  let key: { name: string; offset: number } | undefined;
  let values = 0;
  for (const { index: offset, 0: token } of text.matchAll(piece)) {
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
    values += 1;
    if (values > maxValues) {
      oddities.push({ offset, message: `this has more than ${maxValues} values: take out what is no configuration` });
      break;
    }
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

function find(root: JsonNode, path: FieldPath): NodeOffsets {
  let node = root.inner?.get(0) ?? root;
  for (const part of path) {
    const next = node.inner?.get(part);
    if (!next) return { value: node.offset, key: node.key, whole: false };
    node = next;
  }
  return { value: node.offset, key: node.key, whole: true };
}

/** A piece of a text meant to be JSON: punctuation, a text that may lack its end, or a run of anything else. */
const piece = /[{}[\],:]|"[^"\\]*(?:\\[^][^"\\]*)*"?|[^\s{}[\],:"]+/g;

const literal = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/;

/**
 * What YAML would let pass and JSON does not. `JSON.parse` decides; the pieces only locate the error, because its own
 * message does not always have a position.
 */
export function jsonFault(text: string): Irregularity | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const reported = /at position (\d+)/.exec(error.message)?.[1];
    const seen = foreignLexeme(text);
    if (seen && (reported === undefined || seen.offset <= Number(reported))) return seen;
    if (reported !== undefined)
      return { offset: Number(reported), message: 'this is not JSON: something else belongs here' };
    return { offset: Math.max(0, text.trimEnd().length - 1), message: 'this is not JSON: it ends too early' };
  }
}

/** The first piece that YAML knows and JSON does not. */
function foreignLexeme(text: string): Irregularity | undefined {
  let comma: number | undefined;
  for (const { index: offset, 0: lexeme } of text.matchAll(piece)) {
    if (comma !== undefined && (lexeme === '}' || lexeme === ']')) {
      return { offset: comma, message: 'this is not JSON: no comma may stand before a closing bracket' };
    }
    comma = lexeme === ',' ? offset : undefined;
    const message = foreign(lexeme);
    if (message) return { offset, message: `this is not JSON: ${message}` };
  }
  return undefined;
}

function foreign(lexeme: string): string | undefined {
  if (/^[{}[\],:]$/.test(lexeme) || lexeme.startsWith('"') || literal.test(lexeme)) return undefined;
  if (lexeme.startsWith('#') || lexeme.startsWith('/')) return 'it knows no comments';
  return 'texts and keys stand in double quotes';
}
