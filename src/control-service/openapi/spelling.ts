import { fieldAliases } from '../../contract/control/aliases.ts';
import type { FieldSpelling } from '../../contract/control/aliases.ts';
import { isObject } from '../../contract/json-object.ts';
import type { JsonSchema } from '../../openapi/named-schemas.ts';

/** The schemas with every field that has two names under the requested one. */
export function spellSchemas(
  schemas: Readonly<Record<string, JsonSchema>>,
  spelling: FieldSpelling,
): Record<string, JsonSchema> {
  const names = new Map(fieldAliases.map((alias) => [alias.contract, alias[spelling]]));
  const spelled = ({ properties, required, ...schema }: JsonSchema): JsonSchema => ({
    ...schema,
    ...(Array.isArray(required) ? { required: required.map((name) => names.get(name) ?? name) } : {}),
    ...(isObject(properties)
      ? {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, field]) => [names.get(name) ?? name, field]),
          ),
        }
      : {}),
  });
  return Object.fromEntries(Object.entries(schemas).map(([id, schema]) => [id, spelled(schema)]));
}
