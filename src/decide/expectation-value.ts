import { deepCompareStrict } from '@cfworker/json-schema';
import type { JSONPathQuery } from 'json-p3';
import { compilePath } from '../config/json-path.ts';
import { compilePattern } from '../config/pattern.ts';
import type { ValueTest } from '../config/smoke-test.ts';
import { tooLarge } from './expectation-bounds.ts';
import { schemaMisfit } from './expectation-schema.ts';
import { brief, briefText, kindOfValue } from './expectation-words.ts';

/** Whether something holds, and what was seen, in bounded words. */
export interface Seen {
  held: boolean;
  seen: string;
}

/** Texts (characters) longer than this are held to no pattern: RE2 takes time by their length. */
const longestMatched = 100_000;

/** What one query may find. */
const mostFound = 1000;

/** What a query that looks at more than one place may look through. */
const searched = { nodes: 20_000, text: 1_000_000 };

/** Holds the values of a run to one expectation: something must be found at the path, and all that is found must hold. */
export function seenAt(path: string, test: ValueTest, values: unknown): Seen {
  if (values === undefined) return { held: false, seen: 'the run brought no values' };
  const compiled = compilePath(path);
  if (!compiled.ok) return { held: false, seen: `nothing: the path ${compiled.problem}` };
  const large = compiled.query.singularQuery() ? undefined : tooLarge(values, searched);
  if (large) return { held: false, seen: `${large}: too large for a path that searches them` };
  const found = findAll(compiled.query, values);
  if (found.length === 0) return { held: false, seen: 'nothing at this path' };
  if (found.length > mostFound) return { held: false, seen: `more than ${mostFound} values at this path` };
  const seen = found.map((each) => ({ ...seenIn(each.value, test), where: each.where }));
  const wrong = seen.find(({ held }) => !held);
  const one = wrong ?? seen[0];
  if (!one) return { held: false, seen: 'nothing at this path' };
  return { held: wrong === undefined, seen: found.length > 1 ? `${briefText(one.where, 80)}: ${one.seen}` : one.seen };
}

function findAll(query: JSONPathQuery, values: unknown): { value: unknown; where: string }[] {
  const found: { value: unknown; where: string }[] = [];
  if (!isJson(values)) return found;
  for (const node of query.lazyQuery(values)) {
    found.push({ value: node.value, where: node.getPath({ form: 'canonical' }) });
    if (found.length > mostFound) break;
  }
  return found;
}

/** The values came out of a JSON text, so their outside tells enough. */
const isJson = (value: unknown): value is Parameters<JSONPathQuery['lazyQuery']>[0] =>
  value === null || ['string', 'number', 'boolean', 'object'].includes(typeof value);

function seenIn(value: unknown, test: ValueTest): Seen {
  switch (test.kind) {
    case 'equals':
      return { held: deepCompareStrict(value, test.value), seen: brief(value) };
    case 'contains':
      if (typeof value === 'string') return { held: value.includes(test.text), seen: brief(value) };
      if (Array.isArray(value)) return { held: value.includes(test.text), seen: brief(value) };
      return { held: false, seen: `${kindOfValue(value)}, which contains no text: ${brief(value)}` };
    case 'matches':
      return matched(value, test.pattern);
    case 'schema': {
      const misfit = schemaMisfit(test.schema, value);
      return {
        held: misfit === undefined,
        seen: misfit === undefined ? brief(value) : `${misfit} (${brief(value, 120)})`,
      };
    }
  }
}

function matched(value: unknown, written: string): Seen {
  if (typeof value !== 'string') return { held: false, seen: `${kindOfValue(value)}, not text: ${brief(value)}` };
  if (value.length > longestMatched) {
    return {
      held: false,
      seen: `a text of ${value.length} characters, more than the ${longestMatched} that are matched`,
    };
  }
  const compiled = compilePattern(written);
  if (!compiled.ok) return { held: false, seen: `nothing: the pattern ${compiled.problem}` };
  return { held: compiled.pattern.matcher(value).find(), seen: brief(value) };
}
