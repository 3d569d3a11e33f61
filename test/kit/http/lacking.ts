import type { OpenApi, Schema } from './shape.ts';

/** How what a public document calls something is found in ours. */
export interface Spelling {
  /** Where its schemas lie in ours, where that is not under the same name. */
  places: Readonly<Record<string, readonly string[]>>;
  /** Its names of fields to ours, where they differ. */
  fields: ReadonlyMap<string, string>;
}

export const withoutNames = (path: string): string => path.replaceAll(/\{\w+\}/g, '{}');

/** A schema with references followed and the part that may be null left out. */
export function plain(found: Schema | undefined, document: OpenApi): Schema | undefined {
  if (found?.$ref !== undefined) {
    return plain(document.components.schemas[found.$ref.replace('#/components/schemas/', '')], document);
  }
  const [some, ...others] = (found?.anyOf ?? []).filter((part) => !('type' in part && part.type === 'null'));
  return some !== undefined && others.length === 0 ? plain(some, document) : found;
}

export function ourSchema(name: string, ours: OpenApi, { places }: Spelling): Schema | undefined {
  const [root = name, ...steps] = places[name] ?? [name];
  let found = plain(ours.components.schemas[root], ours);
  for (const step of steps) found = plain(step === 'items' ? found?.items : found?.properties?.[step], ours);
  return found;
}

export const fieldOf = (found: Schema | undefined, name: string, { fields }: Spelling): Schema | undefined =>
  found?.properties?.[name] ?? found?.properties?.[fields.get(name) ?? ''];

export const wordsOf = (found: Schema | undefined): unknown[] =>
  found?.enum ?? (found?.const === undefined ? [] : [found.const]);

/** Every path with its method, parameter, status, field, required field and word of `theirs` that `ours` does not have. */
export function lacking(theirs: OpenApi, ours: OpenApi, spelling: Spelling): string[] {
  return [...lackingOperations(theirs, ours, spelling), ...lackingSchemas(theirs, ours, spelling)];
}

function lackingOperations(theirs: OpenApi, ours: OpenApi, spelling: Spelling): string[] {
  const known = new Map(
    Object.entries(ours.paths).flatMap(([path, methods]) =>
      // A path that the public description ends with a slash is an alias of ours.
      [path, `${path}/`].map((each) => [withoutNames(each), methods] as const),
    ),
  );
  return Object.entries(theirs.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) => {
      const where = `${method.toUpperCase()} ${path}`;
      const own = known.get(withoutNames(path))?.[method];
      if (!own) return [where];
      const within = (name: string, their: Schema | undefined, our: Schema | undefined): string[] =>
        // What has a name is looked at among the schemas.
        their === undefined || their.$ref !== undefined
          ? []
          : lackingFields(name, their, theirs, plain(our, ours) ?? {}, ours, spelling);
      return [
        ...operation.parameters.flatMap(({ name, in: place, schema }) => {
          if (place === 'path') return [];
          const our = own.parameters.find((one) => one.in === place && one.name.toLowerCase() === name.toLowerCase());
          const named = `${where} ${place === 'query' ? '?' : ''}${name}`;
          return our ? lostWords(named, allWordsOf(schema), allWordsOf(our.schema)) : [named];
        }),
        ...within(
          `${where} body`,
          operation.requestBody?.content['application/json']?.schema,
          own.requestBody?.content['application/json']?.schema,
        ),
        ...Object.entries(operation.responses).flatMap(([status, { content = {} }]) => {
          const our = own.responses[status];
          if (!our) return [`${where} ${status}`];
          return Object.entries(content).flatMap(([type, { schema }]) =>
            our.content?.[type]
              ? within(`${where} ${status}`, schema, our.content[type].schema)
              : [`${where} ${status} ${type}`],
          );
        }),
      ];
    }),
  );
}

/** The words of a parameter, which may be one or a list of them. */
const allWordsOf = (found: Schema): unknown[] => [
  ...wordsOf(found),
  ...wordsOf(found.items),
  ...(found.anyOf ?? []).flatMap(allWordsOf),
];

const lostWords = (name: string, theirs: readonly unknown[], ours: readonly unknown[]): string[] =>
  // Where no words are listed, any will do.
  ours.length === 0 ? [] : theirs.filter((word) => !ours.includes(word)).map((word) => `${name} ${String(word)}`);

function lackingSchemas(theirs: OpenApi, ours: OpenApi, spelling: Spelling): string[] {
  return Object.entries(theirs.components.schemas).flatMap(([name, theirSchema]) => {
    const own = ourSchema(name, ours, spelling);
    return own ? lackingFields(name, theirSchema, theirs, own, ours, spelling) : [name];
  });
}

function lackingFields(
  name: string,
  theirSchema: Schema,
  theirs: OpenApi,
  own: Schema,
  ours: OpenApi,
  spelling: Spelling,
): string[] {
  const lost = wordsOf(theirSchema).filter((word) => !wordsOf(own).includes(word));
  const fields = Object.entries(theirSchema.properties ?? {}).flatMap(([field, theirField]) => {
    const ownField = fieldOf(own, field, spelling);
    if (!ownField) return [`${name}.${field}`];
    const ownWords = wordsOf(plain(ownField, ours));
    const words = wordsOf(plain(theirField, theirs)).filter((word) => !ownWords.includes(word));
    return [
      ...words.map((word) => `${name}.${field} ${String(word)}`),
      ...lostInside(`${name}.${field}`, theirField, theirs, ownField, ours, spelling),
    ];
  });
  const needed = (theirSchema.required ?? []).filter((field) => {
    const ownName = fieldOf(own, field, spelling) === own.properties?.[field] ? field : spelling.fields.get(field);
    return fieldOf(own, field, spelling) !== undefined && !own.required?.includes(ownName ?? field);
  });
  return [
    ...lost.map((word) => `${name} ${String(word)}`),
    ...fields,
    ...needed.map((field) => `${name}.${field} required`),
  ];
}

/** The forms that a field may have, and those of its items; what has a name stays a reference. */
function formsOf(found: Schema | undefined): Schema[] {
  if (found === undefined) return [];
  const further = [...(found.anyOf ?? []), ...(found.oneOf ?? []), ...(found.items ? [found.items] : [])];
  return [found, ...further.flatMap(formsOf)];
}

/** What stands inside a field, in every form that it may have. */
const insideOf = (forms: readonly Schema[]): Record<string, Schema> =>
  Object.assign({}, ...forms.map(({ properties }) => properties ?? {}));

/** Fields of objects inside a field. One with a name is looked at among the schemas: here ours has to be an object too. */
function lostInside(
  name: string,
  theirField: Schema,
  theirs: OpenApi,
  ownField: Schema,
  ours: OpenApi,
  spelling: Spelling,
): string[] {
  const named = (forms: readonly Schema[], document: OpenApi) =>
    forms.filter(({ $ref }) => $ref !== undefined).flatMap((form) => formsOf(plain(form, document)));
  const theirForms = formsOf(theirField);
  const ownForms = formsOf(ownField);
  const own = insideOf([...ownForms, ...named(ownForms, ours)]);
  const theirObject = insideOf(named(theirForms, theirs));
  const unknown = Object.keys(theirObject).length > 0 && Object.keys(own).length === 0 ? [`${name} inside`] : [];
  const lost = Object.entries(insideOf(theirForms)).flatMap(([field, theirInner]) => {
    const ownInner = own[field] ?? own[spelling.fields.get(field) ?? ''];
    if (!ownInner) return [`${name}.${field}`];
    return lostInside(`${name}.${field}`, theirInner, theirs, ownInner, ours, spelling);
  });
  return [...unknown, ...lost];
}
