import type { GraphSchemas } from '../../contract/agent/assistant.ts';
import { isObject } from '../../kit/json-object.ts';

/** The input that holds a question, or the fields of a graph that has no single place for one. */
export type QuestionInput = { ok: true; input: Record<string, unknown> } | { ok: false; fields: readonly string[] };

/** Puts a question into the input of a graph: as a message where it takes messages, else into its only text. */
export function questionInput(question: string, schemas: Pick<GraphSchemas, 'input_schema'>): QuestionInput {
  const { properties, required } = schemas.input_schema ?? {};
  if (!isObject(properties)) return asMessage(question);
  if ('messages' in properties) return asMessage(question);
  const fields = Object.keys(properties);
  const texts = fields.filter((field) => takesText(properties[field]));
  const needed = texts.filter((field) => Array.isArray(required) && required.includes(field));
  const possible = needed.length > 0 ? needed : texts;
  const field = possible.length === 1 ? possible[0] : usualFields.find((each) => possible.includes(each));
  return field === undefined ? { ok: false, fields } : { ok: true, input: { [field]: question } };
}

/** What graphs call their question, where they take several texts. */
const usualFields = ['input', 'question', 'query', 'prompt', 'message', 'text'];

const asMessage = (question: string): QuestionInput => ({
  ok: true,
  input: { messages: [{ role: 'user', content: question }] },
});

/** Whether a schema allows any text; text beside null counts, and so does a schema that allows anything. */
function takesText(schema: unknown): boolean {
  if (!isObject(schema)) return schema === true;
  const { type, anyOf } = schema;
  if (type === 'string' || (Array.isArray(type) && type.includes('string'))) return !('enum' in schema);
  if (Array.isArray(anyOf)) return anyOf.some(takesText);
  return Object.keys(schema).every((keyword) => annotations.has(keyword));
}

/** What says nothing of the values that a schema allows. */
const annotations: ReadonlySet<string> = new Set(['title', 'description', 'default', 'examples']);
