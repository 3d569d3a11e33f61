import { afterEach, describe, expect, test } from 'vitest';
import { join } from 'node:path';
import { readGraphInput } from '../../../src/cli/init/graph-input.ts';
import { folderOf } from '../run-cli.ts';

let remove = (): void => {};
afterEach(() => remove());

function inputOf(files: Readonly<Record<string, string>>, path: string) {
  const folder = folderOf(files);
  remove = folder.remove;
  return readGraphInput(join(folder.path, path));
}

const messages = { kind: 'messages' };

describe('the input of a graph in TypeScript', () => {
  test.each([
    ['messages of the annotation', 'new StateGraph(MessagesAnnotation)', messages],
    [
      'messages among others',
      'const S = Annotation.Root({ ...MessagesAnnotation.spec, a: Annotation<string> });\nnew StateGraph(S)',
      messages,
    ],
    ['messages of a prebuilt agent', 'export const graph = createReactAgent({ llm, tools });', messages],
    [
      'required keys of an input schema',
      'const I = z.object({ n: z.number(), on: z.boolean(), note: z.string().optional() });\nnew StateGraph({ state: S, input: I })',
      { kind: 'keys', keys: { n: 1, on: true } },
    ],
    [
      'the first text of a whole state',
      'const S = Annotation.Root({ steps: Annotation<string[]>({ reducer: (a, b) => [...a, ...b] }), question: Annotation<string>, answer: Annotation<string> });\nnew StateGraph(S)',
      { kind: 'keys', keys: { question: 'hello' } },
    ],
    [
      'a required key of an unknown type',
      'const I = z.object({ order: z.object({ id: z.string() }) });\nnew StateGraph({ state: S, input: I })',
      { kind: 'unknown' },
    ],
    ['a schema that is not there', 'new StateGraph(Elsewhere)', { kind: 'unknown' }],
    [
      'a schema that spreads itself',
      'const S = z.object({ ...S, question: z.string() });\nnew StateGraph(S)',
      { kind: 'keys', keys: { question: 'hello' } },
    ],
    ['a schema in a comment', '// const S = z.object({ a: z.string() })\nnew StateGraph(S)', { kind: 'unknown' }],
  ])('is read: %s', (_, text, expected) => {
    expect(inputOf({ 'graph.ts': text }, 'graph.ts')).toEqual(expected);
  });

  test('is read from a file beside it', () => {
    const files = {
      'graph.ts': "import { S } from './state.js';\nnew StateGraph(S)",
      'state.ts': 'export const S = z.object({ question: z.string() });',
    };
    expect(inputOf(files, 'graph.ts')).toEqual({ kind: 'keys', keys: { question: 'hello' } });
  });
});

describe('the input of a graph in Python', () => {
  test.each([
    ['messages of the state', 'class State(MessagesState):\n    topic: str\n\ngraph = StateGraph(State)', messages],
    [
      'messages of an own class',
      'class State(TypedDict):\n    messages: Annotated[list, add_messages]\n\nStateGraph(State)',
      messages,
    ],
    ['messages of a prebuilt agent', 'graph = create_agent(model, tools)', messages],
    [
      'required keys, inherited ones too',
      'class Base(TypedDict):\n    n: int\n\nclass In(Base):\n    """About."""\n\n    on: bool\n    note: NotRequired[str]\n    other: str | None = None\n\nStateGraph(State, input_schema=In)',
      { kind: 'keys', keys: { n: 1, on: true } },
    ],
    [
      'the first text of a whole state',
      'class State(TypedDict):\n    steps: Annotated[list[str], operator.add]\n    question: str\n    answer: str\n\nStateGraph(State)',
      { kind: 'keys', keys: { question: 'hello' } },
    ],
    [
      'a class of generic and qualified bases',
      'class State(TypedDict, Generic[K, V], a.Base[K]):\n    question: str\n\nStateGraph(State)',
      { kind: 'keys', keys: { question: 'hello' } },
    ],
    [
      'a class whose base has its name',
      'class State(State):\n    question: str\n\nStateGraph(State)',
      { kind: 'keys', keys: { question: 'hello' } },
    ],
    [
      'arguments of an annotation, which make nothing optional',
      'class State(TypedDict):\n    question: Annotated[str, Field(min_length=len("x"), max_length=max(1, 2))]\n\nStateGraph(State)',
      { kind: 'keys', keys: { question: 'hello' } },
    ],
    ['a schema that is not there', 'StateGraph(Elsewhere)', { kind: 'unknown' }],
  ])('is read: %s', (_, text, expected) => {
    expect(inputOf({ 'graph.py': text }, 'graph.py')).toEqual(expected);
  });

  test('is read from a module beside it', () => {
    const files = {
      'graph.py': 'from agent.state import State\nStateGraph(State)',
      'state.py': 'class State(TypedDict):\n    question: str\n',
    };
    expect(inputOf(files, 'graph.py')).toEqual({ kind: 'keys', keys: { question: 'hello' } });
  });
});

test('a folder in the place of a module is passed over', () => {
  const files = {
    'graph.ts':
      "import { S } from './state.ts';\nconst I = z.object({ n: z.number() });\nnew StateGraph({ state: S, input: I })",
    'state.ts/index.ts': '',
  };
  expect(inputOf(files, 'graph.ts')).toEqual({ kind: 'keys', keys: { n: 1 } });
  expect(inputOf(files, 'state.ts')).toEqual({ kind: 'unknown' });
});

test('a file that is not there has an unknown input', () => {
  expect(inputOf({}, 'graph.ts')).toEqual({ kind: 'unknown' });
});
