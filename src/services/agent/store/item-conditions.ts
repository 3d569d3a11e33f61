import { sql, type RawBuilder } from 'kysely';
import { isExactNumber } from '../../../kit/exact-number.ts';
import type { MetadataFilter } from '../auth/filters.ts';
import { storableJson } from '../../../kit/json-text.ts';
import type { Condition } from './filter.ts';

const json = (value: unknown): RawBuilder<unknown> => sql`${storableJson(value)}::jsonb`;

/** Whether the database holds a value as it is, and no other one in its place (`storableJson`). */
const isStored = (value: unknown): boolean =>
  isExactNumber(value) || (JSON.parse(storableJson(value)) === value && !String(value).includes('\uFFFD'));

/** The conditions of a filter, as `authorizeStore` matches it against a single item. */
export const accessSql = (filter: MetadataFilter): RawBuilder<unknown>[] =>
  Object.entries(filter).map(([field, value]) => {
    const isList = typeof value === 'object' && value !== null && !isExactNumber(value);
    const operands = isList ? value : [value];
    if (![field, ...operands].every((each) => isStored(each))) return sql`false`;
    const texts = operands.filter((each) => typeof each === 'string');
    if (field === 'key' || field === 'namespace') {
      if (texts.length < operands.length || isList !== (field === 'namespace')) return sql`false`;
      return isList ? sql`namespace @> ${texts}::text[]` : sql`key = ${texts[0]}`;
    }
    return conditionSql(isList ? { kind: 'contains', field, value } : { kind: 'equals', field, value });
  });

/** A condition on the column `value`. A missing field equals nothing, and differs from everything. */
export function conditionSql(condition: Condition): RawBuilder<boolean> {
  const field = sql`value -> ${condition.field}::text`;
  switch (condition.kind) {
    case 'equals':
      return sql`${field} = ${json(condition.value)}`;
    case 'differs':
      return sql`${field} is distinct from ${json(condition.value)}`;
    case 'compares': {
      // Postgres also orders values of different types, which must not match.
      const operand = json(condition.value);
      return sql`(jsonb_typeof(${field}) = jsonb_typeof(${operand}) and ${field} ${sql.raw(condition.comparison)} ${operand})`;
    }
    case 'is-one-of':
      return sql`${field} in (select jsonb_array_elements(${json(condition.values)}))`;
    case 'is-none-of':
      return sql`coalesce(${field} not in (select jsonb_array_elements(${json(condition.values)})), true)`;
    case 'is-there':
      return sql`jsonb_exists(value, ${condition.field}::text) = ${condition.there}`;
    case 'contains':
      return sql`${field} @> ${json(condition.value)}`;
  }
}
