import { jsonTokens } from './json-tree.ts';

/** Where a text stops being JSON, and what is wrong there. */
export interface JsonFault {
  offset: number;
  message: string;
}

const literal = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/;

/**
 * What YAML would let pass and JSON does not: comments, single quotes, bare words, a comma before a closing bracket.
 * `JSON.parse` decides; the pieces only locate the error, because its own message gives a position for some errors only.
 */
export function jsonFault(text: string): JsonFault | undefined {
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
function foreignLexeme(text: string): JsonFault | undefined {
  let comma: number | undefined;
  for (const { offset, text: lexeme } of jsonTokens(text)) {
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
