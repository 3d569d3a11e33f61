import type { FreeObject } from '../../contract/agent/open-word.ts';
import { isObject } from '../../contract/json-object.ts';

/** How two values of one type are compared. */
export type Comparison = '>' | '>=' | '<' | '<=';

/** What one field of an item's value has to be. */
export type Condition =
  | { kind: 'equals'; field: string; value: unknown }
  | { kind: 'differs'; field: string; value: unknown }
  | { kind: 'compares'; field: string; comparison: Comparison; value: number | string }
  | { kind: 'is-one-of'; field: string; values: unknown[] }
  | { kind: 'is-none-of'; field: string; values: unknown[] }
  | { kind: 'is-there'; field: string; there: boolean }
  | { kind: 'contains'; field: string; value: FreeObject };

/** A filter, taken apart; or what is wrong with it, and where. */
export type ReadFilter = { ok: true; conditions: Condition[] } | { ok: false; path: string[]; problem: string };

const COMPARISONS: ReadonlyMap<string, Comparison> = new Map([
  ['$gt', '>'],
  ['$gte', '>='],
  ['$lt', '<'],
  ['$lte', '<='],
]);
const OPERATORS = ['$eq', '$ne', ...COMPARISONS.keys(), '$in', '$nin', '$exists'];

/** How many conditions a filter may have: a statement is put together in a time that grows with their square. */
export const MOST_CONDITIONS = 100;

/**
 * Takes a filter apart: `{"field": value}` asks for equality, `{"field": {"$gt": 5}}` for what the operators say, all of
 * them, and `{"field": {"a": 1}}` for an object that holds at least that.
 */
export function readFilter(filter: FreeObject): ReadFilter {
  const conditions: Condition[] = [];
  for (const [field, wanted] of Object.entries(filter)) {
    if (wanted === undefined) continue;
    if (!isObject(wanted)) {
      conditions.push({ kind: 'equals', field, value: wanted });
      continue;
    }
    const operators = Object.keys(wanted).filter((key) => key.startsWith('$'));
    if (operators.length === 0) {
      conditions.push({ kind: 'contains', field, value: wanted });
      continue;
    }
    for (const [operator, operand] of Object.entries(wanted)) {
      const read = readOperator(field, operator, operand);
      if (typeof read === 'string') return { ok: false, path: [field, operator], problem: read };
      conditions.push(read);
    }
  }
  if (conditions.length > MOST_CONDITIONS)
    return { ok: false, path: [], problem: `has more than ${MOST_CONDITIONS} conditions` };
  return { ok: true, conditions };
}

/** The condition of one operator, or what is wrong with it. */
function readOperator(field: string, operator: string, operand: unknown): Condition | string {
  const comparison = COMPARISONS.get(operator);
  if (comparison !== undefined) {
    if (typeof operand !== 'number' && typeof operand !== 'string') return 'compares with a number or a string only';
    return { kind: 'compares', field, comparison, value: operand };
  }
  switch (operator) {
    case '$eq':
      return { kind: 'equals', field, value: operand };
    case '$ne':
      return { kind: 'differs', field, value: operand };
    case '$in':
    case '$nin':
      if (!Array.isArray(operand)) return 'takes a list';
      return { kind: operator === '$in' ? 'is-one-of' : 'is-none-of', field, values: operand };
    case '$exists':
      if (typeof operand !== 'boolean') return 'takes true or false';
      return { kind: 'is-there', field, there: operand };
    default:
      return `is no operator: there are ${OPERATORS.join(', ')}`;
  }
}
