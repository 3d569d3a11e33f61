import { FunctionExpressionType, JSONPathEnvironment, JSONPathError, type JSONPathQuery } from 'json-p3';
import type { RE2JS } from 're2js';
import { compilePattern } from './pattern.ts';

/** A query that was compiled, or why it could not be. */
export type CompiledPath = { ok: true; query: JSONPathQuery } | { ok: false; problem: string };

/** The deepest nesting that is evaluated; the library's own limit is higher. */
export const deepestValues = 100;

const maxPathLength = 500;

/** Patterns that one query may use; the ones it finds in the values itself count too. */
const maxPatterns = 10;

/** Longer texts (characters) match nothing in a filter. */
const maxMatchedLength = 10_000;

/** Steps that the patterns of one query may take together: the characters matched by the instructions of the pattern. */
const maxSteps = 20_000_000;

/** What a query throws that takes too many steps for the values. */
export class TooManySteps extends Error {}

/**
 * Compiles a JSONPath query (RFC 9535). Its `match` and `search` run on RE2, because the values that they look at are
 * a stranger's; `..` may stand in it once, because every one multiplies the work by the size of the values.
 * The problem goes on from the name of the field and quotes nothing.
 */
export function compilePath(written: string): CompiledPath {
  if (!written.startsWith('$'))
    return { ok: false, problem: 'must be a JSONPath query: begin with `$`, the values of the run' };
  if (written.length > maxPathLength) return { ok: false, problem: `must have at most ${maxPathLength} characters` };
  if (written.split('..').length > 2) return { ok: false, problem: 'must have `..` at most once' };
  try {
    return { ok: true, query: boundedEnvironment().compile(written) };
  } catch (error) {
    if (!(error instanceof JSONPathError)) throw error;
    const at = error.token.index + 1;
    return { ok: false, problem: `must be a JSONPath query (RFC 9535): it breaks at its character ${at}` };
  }
}

function boundedEnvironment(): JSONPathEnvironment {
  const environment = new JSONPathEnvironment({ maxRecursionDepth: deepestValues + 10 });
  let left = maxSteps;
  const compiled = new Map<string, RE2JS | undefined>();
  const patternOf = (written: string): RE2JS | undefined => {
    if (!compiled.has(written) && compiled.size < maxPatterns) {
      const result = compilePattern(written);
      compiled.set(written, result.ok ? result.pattern : undefined);
    }
    return compiled.get(written);
  };
  const { ValueType, LogicalType } = FunctionExpressionType;
  const matching = (test: (pattern: RE2JS, text: string) => boolean) => ({
    argTypes: [ValueType, ValueType],
    returnType: LogicalType,
    call: (text: unknown, written: unknown): boolean => {
      if (typeof text !== 'string' || typeof written !== 'string' || text.length > maxMatchedLength) return false;
      const pattern = patternOf(written);
      left -= text.length * (pattern?.programSize() ?? 0);
      if (left < 0) throw new TooManySteps(`The patterns of the query take more than ${maxSteps} steps.`);
      return pattern !== undefined && test(pattern, text);
    },
  });
  environment.functionRegister.set(
    'match',
    matching((pattern, text) => pattern.matches(text)),
  );
  environment.functionRegister.set(
    'search',
    matching((pattern, text) => pattern.matcher(text).find()),
  );
  return environment;
}
