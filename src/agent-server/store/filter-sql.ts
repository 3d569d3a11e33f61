import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import { storable } from '../storage/storable.ts';
import type { Condition } from './filter.ts';

const json = (value: unknown): RawBuilder<unknown> => sql`${storable(value)}::jsonb`;

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
