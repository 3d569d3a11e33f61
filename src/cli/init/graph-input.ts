import { dirname, join } from 'node:path';
import { graphLanguage } from '../../agent-folder/graph-config/language.ts';
import { readTextFile } from '../../host/workspace.ts';

/** The input of a graph, as far as its source tells: a list of messages, its required keys with samples, or unknown. */
export type GraphInput =
  { kind: 'messages' } | { kind: 'keys'; keys: Record<string, string | number | boolean> } | { kind: 'unknown' };

const unknown: GraphInput = { kind: 'unknown' };
const messages: GraphInput = { kind: 'messages' };

/**
 * Reads the input of a graph from the text of its file and of those beside it that it imports. Nothing is installed or
 * run, so this knows the usual ways to write a state, and no others.
 */
export function readGraphInput(path: string): GraphInput {
  const language = graphLanguage(path);
  const own = codeOf(path);
  if (own === undefined || language === 'unknown') return unknown;
  const isPython = language === 'python';
  const text = [own, ...neighbours(path, own, isPython).flatMap((file) => codeOf(file) ?? [])].join('\n');
  const [, named] =
    (isPython ? /\binput(?:_schema)?\s*=\s*(\w+)/ : /\binput(?:Schema)?:\s*(\w+)\s*[,}]/).exec(text) ?? [];
  const [, state] =
    /\bStateGraph(?:<[^>]*>)?\(\s*(?:\{\s*(?:state|stateSchema):\s*)?(?:state_schema\s*=\s*)?(\w+)/.exec(text) ?? [];
  const schema = named ?? state;
  if (schema === undefined) return /\b(?:create_?(?:react_?)?agent)\(/i.test(text) ? messages : unknown;
  const fields = isPython ? pythonFields(text, schema) : scriptFields(text, schema);
  if (fields === undefined) return unknown;
  if (fields.has('messages')) return messages;
  const required = [...fields].filter(([, sample]) => sample !== null);
  // A whole state holds what nodes write too: its first text is what a person most likely gives.
  const given =
    named === undefined ? required.filter(([, sample]) => typeof sample === 'string').slice(0, 1) : required;
  const keys: Record<string, string | number | boolean> = {};
  for (const [key, sample] of given) {
    if (sample === undefined || sample === null) return unknown;
    keys[key] = sample;
  }
  return { kind: 'keys', keys };
}

/** The keys of a schema with a sample each: null where the key may be left out, undefined where no sample is known. */
type Fields = Map<string, string | number | boolean | null | undefined>;

const samples: readonly [type: RegExp, sample: string | number | boolean][] = [
  [/^(?:z\.string\(|Annotation<string>|str\b|Annotated\[\s*str\b)/, 'hello'],
  [/^(?:z\.(?:number|int)\(|Annotation<number>|(?:int|float)\b|Annotated\[\s*(?:int|float)\b)/, 1],
  [/^(?:z\.boolean\(|Annotation<boolean>|bool\b|Annotated\[\s*bool\b)/, true],
];
const sampleOf = (type: string) => samples.find(([pattern]) => pattern.test(type))?.[1];

/**
 * The keys of `const NAME = z.object({ ... })`, of `Annotation.Root` and `StateSchema` likewise. None for a name in
 * `seen`, because a schema may spread itself while it is being written.
 */
function scriptFields(text: string, name: string, seen = new Set<string>()): Fields | undefined {
  if (seen.has(name)) return undefined;
  seen.add(name);
  if (/^Messages(?:Annotation|ZodState)$/.test(name)) return new Map([['messages', undefined]]);
  const start = new RegExp(`\\bconst ${name}\\b[^=]*=[^{;]*\\{`).exec(text);
  if (!start) return undefined;
  const fields: Fields = new Map();
  for (const member of membersOf(text.slice(start.index + start[0].length))) {
    const [, key, type = ''] = /^["']?(\w+)["']?\s*:([^]*)$/.exec(member) ?? [];
    if (key === undefined) {
      const [, spread] = /^\.\.\.(\w+)/.exec(member) ?? [];
      for (const [inner, sample] of (spread && scriptFields(text, spread, seen)) || []) fields.set(inner, sample);
    } else {
      const isOptional = /\.(?:optional|nullish|default|catch|prefault)\(/.test(type);
      fields.set(key, isOptional ? null : sampleOf(type.trimStart()));
    }
  }
  return fields;
}

/** The members of an object literal, whose text begins after its brace. */
function membersOf(text: string): string[] {
  const found: string[] = [];
  let depth = 0;
  let from = 0;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] ?? '';
    if ('([{'.includes(character)) depth += 1;
    const isEnd = depth === 0 && character === '}';
    if (isEnd || (depth === 0 && character === ',')) {
      found.push(text.slice(from, at).trim());
      from = at + 1;
    }
    if (isEnd) break;
    if (')]}'.includes(character)) depth -= 1;
  }
  return found.filter(Boolean);
}

/**
 * The keys of a class that is a TypedDict, a dataclass or a Pydantic model, with those of its bases. None for a name in
 * `seen`, because a class may have a base of its own name from elsewhere.
 */
function pythonFields(text: string, name: string, seen = new Set<string>()): Fields | undefined {
  if (seen.has(name)) return undefined;
  seen.add(name);
  if (name === 'MessagesState' || name === 'AgentState') return new Map([['messages', undefined]]);
  const [, bases = '', body = ''] =
    new RegExp(`^class ${name}\\b(?:\\(([^)]*)\\))?:((?:\\n(?:[ \\t].*)?)*)`, 'm').exec(text) ?? [];
  if (body === '') return undefined;
  const fields: Fields = new Map();
  const names = bases.split(',').map((base) => base.trim());
  // `Generic[K, V]` and `package.Class` are no names of classes in this text.
  for (const base of names.filter((each) => /^\w+$/.test(each)))
    for (const [key, sample] of pythonFields(text, base, seen) ?? []) fields.set(key, sample);
  const indent = /\n([ \t]+)\S/.exec(body)?.[1] ?? '';
  for (const [, key = '', type = ''] of body.matchAll(new RegExp(`^${indent}(\\w+)\\s*:[ \\t]*(.+)$`, 'gm'))) {
    const isOptional =
      /^(?:NotRequired|Optional)\b|\|\s*None|=/.test(outsideParentheses(type)) || names.includes('total=False');
    fields.set(key, isOptional ? null : sampleOf(type));
  }
  return fields;
}

/** `Annotated[str, Field(min_length=1)]` without its arguments. */
function outsideParentheses(text: string): string {
  let depth = 0;
  let outside = '';
  for (const character of text) {
    if (character === '(') depth += 1;
    if (depth === 0) outside += character;
    if (character === ')') depth -= 1;
  }
  return outside;
}

/** The files of the same folder that a file imports, whether they are there or not. */
function neighbours(path: string, text: string, isPython: boolean): string[] {
  const imports = isPython
    ? [...text.matchAll(/^from\s+(?:[\w.]*\.)?(\w+)\s+import\b/gm)].map(([, name = '']) => `${name}.py`)
    : [...text.matchAll(/\bfrom\s*['"](\.\/[^'"]+)['"]/g)].flatMap(([, name = '']) => [
        name,
        name.replace(/\.js$/, '.ts'),
      ]);
  return [...new Set(imports)].map((name) => join(dirname(path), name)).filter((file) => /\.\w+$/.test(file));
}

/** The text of a file without its comments; undefined where there is no such file to read. */
function codeOf(path: string): string | undefined {
  const file = readTextFile(path);
  return file.kind === 'read' ? withoutComments(file.text) : undefined;
}

const withoutComments = (text: string): string =>
  text.replaceAll(/\/\*[^]*?\*\/|"""[^]*?"""/g, '').replaceAll(/(^|\s)(?:\/\/|#).*$/gm, '$1');
