import { Lexer } from 'yaml';
import type { Irregularity } from './document-rules.ts';
import { syntaxWords } from './positions.ts';

/** Deeper nesting exhausts the parser's stack, which may end the process: no error can be caught then. */
const deepestFlow = 100;
const deepestLine = 20;

/** The parser takes many times the memory of what these are written with. */
const maxFlowIndicators = 10_000;
const maxAnchors = 1_000;

/** Every alias is looked up among all anchors before it, so their number is bounded as well as what they unfold to. */
const maxAliases = 100;

/** What would cost the YAML parser too much, found by its linear lexer. Signs within texts are not counted. */
export function excessOf(text: string): Irregularity | undefined {
  let [offset, depth, onLine, flowIndicators, anchors, aliases] = [0, 0, 0, 0, 0, 0];
  let isScalar = false;
  for (const token of new Lexer().lex(text)) {
    if (controlTokens.has(token)) {
      isScalar = token === scalarToken;
      continue;
    }
    const at = offset;
    offset += token.length;
    if (isScalar) {
      isScalar = false;
      continue;
    }
    const first = token.charAt(0);
    if (first === '\n' || first === '\r') onLine = 0;
    else if (flow.has(token)) {
      flowIndicators += 1;
      if (token === '[' || token === '{') depth += 1;
      else if (token !== ',') depth = Math.max(0, depth - 1);
    } else if (block.has(token) && depth === 0) onLine += 1;
    else if (first === '&') anchors += 1;
    else if (first === '*') aliases += 1;
    if (depth > deepestFlow || onLine > deepestLine) return { offset: at, message: syntaxWords.RESOURCE_EXHAUSTION };
    const message = tooMany({ flowIndicators, anchors, aliases });
    if (message !== undefined) return { offset: at, message };
  }
  return undefined;
}

/** Tokens of the lexer that stand for nothing in the text: a document begins, a flow ends wrongly, a scalar follows. */
const scalarToken = '\u001f';
const controlTokens = new Set(['\u0002', '\u0018', scalarToken]);

const flow = new Set(['[', ']', '{', '}', ',']);
const block = new Set(['-', '?', ':']);

function tooMany(count: { flowIndicators: number; anchors: number; aliases: number }): string | undefined {
  if (count.flowIndicators > maxFlowIndicators)
    return `more than ${maxFlowIndicators} brackets and commas are not read: take out what is no configuration`;
  if (count.anchors > maxAnchors) return `more than ${maxAnchors} anchors are not read`;
  return count.aliases > maxAliases ? `more than ${maxAliases} aliases are not read` : undefined;
}
