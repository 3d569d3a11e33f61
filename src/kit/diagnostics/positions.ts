import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  type LineCounter,
  type Node,
  type YAMLError,
} from 'yaml';
import { type AliasTargets, type AnyMap, isMergeKey, mergedMaps } from './merge-keys.ts';
import type { FieldPath, Position, SourcePositions } from './problem.ts';

interface Step {
  node: Node | null | undefined;
  key: number | undefined;
}

/** Offsets of what lies at a path, or of the nearest thing around it where `whole` is false. */
export interface NodeOffsets {
  value: number | undefined;
  key: number | undefined;
  whole: boolean;
}

/** The places of a text whose lines were counted. */
export function positionsOf(find: (path: FieldPath) => NodeOffsets, lines: LineCounter, file: string): SourcePositions {
  const at = (offset: number | undefined): Position => positionAt(lines, offset ?? 0);
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
export function positionAt(lines: LineCounter, offset: number): Position {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(1, line), column: Math.max(1, col) };
}

/** Goes down in a document as far as the path leads. */
export function findIn(document: Document.Parsed, path: FieldPath, targets: AliasTargets): NodeOffsets {
  let step: Step = { node: document.contents, key: undefined };
  for (const part of path) {
    const next = stepInto(targets, step.node, part);
    if (!next) return { value: step.node?.range?.[0], key: step.key, whole: false };
    step = next;
  }
  return { value: step.node?.range?.[0], key: step.key, whole: true };
}

function stepInto(targets: AliasTargets, from: Step['node'], part: string | number): Step | undefined {
  const node = isAlias(from) ? targets.get(from) : from;
  if (isSeq<Node>(node)) {
    const item = typeof part === 'number' ? node.items[part] : undefined;
    return item && { node: item, key: undefined };
  }
  return isMap(node) ? entryOf(node, String(part), targets) : undefined;
}

/** The entry of a key: in the map itself, else in the first map that it merges and that has it. */
function entryOf(map: AnyMap, name: string, targets: AliasTargets, seen = new Set<AnyMap>()): Step | undefined {
  seen.add(map);
  for (const { key, value } of map.items) {
    if (!isScalar(key) || isMergeKey(key) || String(key.value) !== name) continue;
    return { node: isNode(value) ? value : null, key: key.range?.[0] };
  }
  for (const source of mergedMaps(map, targets)) {
    const found = source && !seen.has(source) ? entryOf(source, name, targets, seen) : undefined;
    if (found) return found;
  }
  return undefined;
}

/** The parser's codes in our words, where its own may quote what was written. */
export const syntaxWords = {
  ALIAS_PROPS: 'an alias (`*name`) cannot carry a tag or an anchor of its own',
  BAD_ALIAS: 'the name of this anchor or alias is not usable',
  BAD_COLLECTION_TYPE: 'this tag does not fit what it stands before',
  BAD_DIRECTIVE: 'this directive (`%...`) is not known',
  BAD_DQ_ESCAPE:
    'this is no escape sequence of a double-quoted text: write `\\\\` for a backslash, or use single quotes',
  BAD_PROP_ORDER: 'an anchor or a tag stands before an indicator that it must follow',
  BAD_SCALAR_START: 'a text cannot start with this character: put it in quotes',
  BLOCK_AS_IMPLICIT_KEY: 'a second `key: value` cannot stand on this line: put the text in quotes, or begin a new line',
  IMPOSSIBLE: 'this cannot be read as YAML',
  MULTIPLE_DOCS: 'only one document is read: remove this `---` and what follows it',
  NON_STRING_KEY: 'a key must be plain text',
  RESOURCE_EXHAUSTION: 'this is nested too deeply',
  TAG_RESOLVE_FAILED: 'tags (`!...`) are not read: remove this one',
  UNEXPECTED_TOKEN:
    'this does not belong here: a quote, a comma, a bracket or an indentation is wrong on this line or before it',
} as const satisfies Partial<Record<YAMLError['code'], string>>;

const words: Partial<Record<YAMLError['code'], string>> = syntaxWords;

/** Codes whose messages are fixed sentences of the parser, without anything from the text. */
export function wordSyntaxError({ code, message }: YAMLError): string {
  return words[code] ?? lowerFirst(message);
}

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);
