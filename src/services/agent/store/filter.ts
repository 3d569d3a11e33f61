import type { FreeObject } from '../../../contract/agent/open-word.ts';
import { isExactNumber, type ExactNumber } from '../../../kit/exact-number.ts';
import { isObject } from '../../../kit/json-object.ts';

export type Comparison = '>' | '>=' | '<' | '<=';

/** A condition on one field of an item's value. */
export type Condition =
  | { kind: 'equals'; field: string; value: unknown }
  | { kind: 'differs'; field: string; value: unknown }
  | { kind: 'compares'; field: string; comparison: Comparison; value: number | string | ExactNumber }
  | { kind: 'is-one-of'; field: string; values: unknown[] }
  | { kind: 'is-none-of'; field: string; values: unknown[] }
  | { kind: 'is-there'; field: string; there: boolean }
  | { kind: 'contains'; field: string; value: FreeObject | readonly unknown[] };

/** A parsed filter; or what is wrong with it, and where. */
export type ReadFilter = { ok: true; conditions: Condition[] } | { ok: false; path: string[]; problem: string };

const comparisons: ReadonlyMap<string, Comparison> = new Map([
  ['$gt', '>'],
  ['$gte', '>='],
  ['$lt', '<'],
  ['$lte', '<='],
]);
const filterOperators = ['$eq', '$ne', ...comparisons.keys(), '$in', '$nin', '$exists'];

/** The maximum number of conditions: building the statement takes quadratic time. */
export const maxConditions = 100;

/** Parses a filter: a value means equality, `{"$gt": 5}` an operator, `{"a": 1}` an object with at least that. */
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
  if (conditions.length > maxConditions)
    return { ok: false, path: [], problem: `has more than ${maxConditions} conditions` };
  return { ok: true, conditions };
}

function readOperator(field: string, operator: string, operand: unknown): Condition | string {
  const comparison = comparisons.get(operator);
  if (comparison !== undefined) {
    if (typeof operand !== 'number' && typeof operand !== 'string' && !isExactNumber(operand))
      return 'compares with a number or a string only';
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
      return `is no operator: there are ${filterOperators.join(', ')}`;
  }
}
