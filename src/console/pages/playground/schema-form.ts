import { isObject } from '../../../kit/json-object.ts';
import { readJson } from '../../parts/json-text.ts';

interface CommonField {
  name: string;
  hint: string | undefined;
  isRequired: boolean;
  /** Whether an empty field is null. */
  isNullable: boolean;
  initial: unknown;
}

/** A field of a form, made from a JSON schema. */
export type FormField = CommonField &
  (
    | { kind: 'text' | 'boolean' | 'json' }
    | { kind: 'number'; isInteger: boolean; min: number | undefined; max: number | undefined }
    | { kind: 'choice'; options: readonly unknown[] }
    | { kind: 'list'; item: FormField }
    | { kind: 'group'; fields: readonly FormField[] }
  );

/** The input of a field: text for most, and the drafts of inner fields for a group or a list. Undefined is omitted. */
export type Draft = string | boolean | undefined | Draft[] | { [name: string]: Draft };

/** Problems by the path of the field: `address.street`, `tags.0`. */
export type Problems = Readonly<Record<string, string>>;

type Schema = Record<string, unknown>;
const maxDepth = 5;

/** The form for an object's schema; undefined if it has no named fields, so that only JSON can be entered. */
export function toForm(schema: unknown): Extract<FormField, { kind: 'group' }> | undefined {
  const field = toField('', schema, schema, true, 0);
  return field.kind === 'group' && field.fields.length > 0 ? field : undefined;
}

function toField(name: string, given: unknown, root: unknown, isRequired: boolean, depth: number): FormField {
  const { schema, isNullable } = resolve(given, root);
  const description = schema['description'];
  const common: CommonField = {
    name,
    hint: typeof description === 'string' ? description : undefined,
    isRequired,
    isNullable,
    initial: schema['default'],
  };
  const options = Array.isArray(schema['enum']) ? schema['enum'] : 'const' in schema ? [schema['const']] : undefined;
  if (options) return { ...common, kind: 'choice', options: options.filter((option) => option !== null) };
  const type = schema['type'];
  if (type === 'string') return { ...common, kind: 'text' };
  if (type === 'boolean') return { ...common, kind: 'boolean' };
  if (type === 'number' || type === 'integer') {
    const bound = (key: string): number | undefined => (typeof schema[key] === 'number' ? schema[key] : undefined);
    return { ...common, kind: 'number', isInteger: type === 'integer', min: bound('minimum'), max: bound('maximum') };
  }
  if (depth < maxDepth && type === 'array' && isObject(schema['items']) && !hasMessages(schema))
    return { ...common, kind: 'list', item: toField('', schema['items'], root, true, depth + 1) };
  const properties = schema['properties'];
  if (depth < maxDepth && isObject(properties) && Object.keys(properties).length > 0) {
    const required: unknown[] = Array.isArray(schema['required']) ? schema['required'] : [];
    const fields = Object.entries(properties).map(([key, each]) =>
      toField(key, each, root, required.includes(key), depth + 1),
    );
    return { ...common, kind: 'group', fields };
  }
  return { ...common, kind: 'json' };
}

/** Whether an array has messages, which are easier to write as JSON. In Python each kind of message has a schema. */
const hasMessages = ({ langgraph_type, items }: Schema): boolean =>
  langgraph_type === 'messages' || (isObject(items) && Array.isArray(items['oneOf']) && items['oneOf'].length > 1);

/** Follows references, and resolves a union of one type and null to that type. */
function resolve(given: unknown, root: unknown): { schema: Schema; isNullable: boolean } {
  let schema = isObject(given) ? given : {};
  for (let hops = 0; hops < 10 && typeof schema['$ref'] === 'string'; hops++) schema = follow(schema['$ref'], root);
  const parts = schema['anyOf'] ?? schema['oneOf'];
  if (Array.isArray(parts)) {
    const others = parts.filter((part) => !isObject(part) || part['type'] !== 'null');
    if (others.length !== 1) return { schema: { description: schema['description'] }, isNullable: false };
    const { schema: only } = resolve(others[0], root);
    const { anyOf: _any, oneOf: _one, ...around } = schema;
    return { schema: { ...only, ...around }, isNullable: others.length < parts.length };
  }
  const type: unknown = schema['type'];
  if (!Array.isArray(type)) return { schema, isNullable: false };
  const types = type.filter((each) => each !== 'null');
  return {
    schema: { ...schema, type: types.length === 1 ? types[0] : undefined },
    isNullable: types.length < type.length,
  };
}

function follow(reference: string, root: unknown): Schema {
  let found = root;
  for (const part of reference.replace(/^#\/?/, '').split('/')) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    found = isObject(found) && Object.hasOwn(found, key) ? found[key] : undefined;
  }
  return isObject(found) ? found : {};
}

/** The draft for a value, by default for that of the field. */
export function toDraft(field: FormField, value: unknown = field.initial): Draft {
  if (field.kind === 'group') {
    if (!isObject(value) && !field.isRequired) return undefined;
    const values = isObject(value) ? value : {};
    return Object.fromEntries(field.fields.map((each) => [each.name, toDraft(each, values[each.name])]));
  }
  if (field.kind === 'list') return Array.isArray(value) ? value.map((each) => toDraft(field.item, each)) : undefined;
  if (field.kind === 'boolean') return typeof value === 'boolean' ? value : undefined;
  if (field.kind === 'json') return value === undefined ? '' : JSON.stringify(value, undefined, 2);
  if (field.kind === 'choice') {
    const index = field.options.findIndex((option) => JSON.stringify(option) === JSON.stringify(value));
    return index < 0 ? '' : String(index);
  }
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

/** Reads the value of a form and the problems of its fields. */
export function readForm(form: FormField, draft: Draft): { value: unknown; problems: Problems } {
  const problems: Record<string, string> = {};
  const value = read(form, draft, '', problems);
  return { value, problems };
}

function read(field: FormField, draft: Draft, path: string, problems: Record<string, string>): unknown {
  const at = (name: string | number): string => (path === '' ? String(name) : `${path}.${name}`);
  if (field.kind === 'group' && isGroup(draft)) {
    const entries = field.fields.map((each) => [each.name, read(each, draft[each.name], at(each.name), problems)]);
    return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
  }
  if (field.kind === 'list' && Array.isArray(draft))
    return draft.map((each, index) => read(field.item, each, at(index), problems));
  if (field.kind === 'boolean' && typeof draft === 'boolean') return draft;
  // An entry of a list may be an empty text. An empty required field has to be entered as JSON.
  if (typeof draft === 'string' && (draft !== '' || (field.kind === 'text' && field.name === '')))
    return readText(field, draft, path, problems);
  if (field.isNullable && field.isRequired) return null;
  if (field.isRequired) problems[path] = field.kind === 'list' ? 'Add an entry.' : 'Fill in this field.';
  return undefined;
}

/** Whether a draft is of a group of fields. */
export const isGroup = (draft: Draft): draft is { [name: string]: Draft } =>
  typeof draft === 'object' && !Array.isArray(draft);

function readText(field: FormField, text: string, path: string, problems: Record<string, string>): unknown {
  if (field.kind === 'choice') return field.options[Number(text)];
  if (field.kind === 'json') {
    const parsed = readJson(text);
    if (parsed.problem !== undefined) problems[path] = parsed.problem;
    return parsed.value;
  }
  if (field.kind !== 'number') return text;
  const number = Number(text);
  const { isInteger, min, max } = field;
  if (Number.isNaN(number)) problems[path] = 'Enter a number.';
  else if (isInteger && !Number.isInteger(number)) problems[path] = 'Enter a whole number.';
  else if (min !== undefined && number < min) problems[path] = `Enter at least ${min}.`;
  else if (max !== undefined && number > max) problems[path] = `Enter at most ${max}.`;
  return number;
}
