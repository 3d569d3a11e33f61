import { Role } from '@a2a-js/sdk';
import type { Message, Part } from '@a2a-js/sdk';
import { describe, expect, test } from 'vitest';
import { artifactsOf, historyOf, inputOf, resumeOf } from '../../../src/agent-server/protocols/a2a/messages.ts';
import { inProtocolForm } from '../../../src/agent-server/protocols/a2a/public-forms.ts';
import { publicBase } from '../../../src/agent-server/protocols/address.ts';
import { toolInput, toolNames } from '../../../src/agent-server/protocols/mcp/tools.ts';
import { data, message, text } from './a2a-speaking.ts';

describe('the names of tools', () => {
  const made = (name: string, id: string) => ({ assistant_id: id, graph_id: 'chat', name, metadata: {} });
  const own = (graph: string) => ({
    assistant_id: `of-${graph}`,
    graph_id: graph,
    name: 'Renamed',
    metadata: { created_by: 'system' },
  });
  test.each([
    ['a graph’s default assistant has the graph’s id', [own('chat')], ['chat']],
    ['another assistant has its name', [made('Morning', '1')], ['Morning']],
    ['what models can’t say is left out', [made('Good day, you!', '1')], ['Good_day_you_']],
    [
      'of two with one name the older keeps it',
      [made('A', '11111111-x'), made('A', '22222222-y')],
      ['A', 'A_22222222'],
    ],
    ['the default one goes before all others', [made('chat', '11111111-x'), own('chat')], ['chat', 'chat_11111111']],
    ['one without a name is called by its id', [made('', '11111111-x')], ['_11111111']],
    ['a long name is cut', [made('x'.repeat(100), '1')], ['x'.repeat(64)]],
    [
      'and stays apart from another one of the same beginning',
      [made('x'.repeat(100), '1'), made('x'.repeat(99), '22222222-y')],
      ['x'.repeat(64), `${'x'.repeat(55)}_22222222`],
    ],
  ])('%s', (_, assistants, names) => expect([...toolNames(assistants).keys()]).toEqual(names));
});

describe('the input of a tool', () => {
  test('an object is taken as it is, without what a schema says of itself', () => {
    const { schema, of } = toolInput({ $schema: 'x', type: 'object', properties: { a: {} } });
    expect(schema).toEqual({ type: 'object', properties: { a: {} } });
    expect(of({ a: 1 })).toEqual({ a: 1 });
  });
  test('where nobody can tell it is any object', () => expect(toolInput(undefined).schema).toEqual({ type: 'object' }));
  test('what is no object is held by one', () => {
    const { schema, of } = toolInput({ type: 'string' });
    expect(schema).toEqual({ type: 'object', properties: { input: { type: 'string' } }, required: ['input'] });
    expect(of({ input: 'word' })).toBe('word');
  });
});

describe('a message becomes a graph’s input', () => {
  const said = (parts: Part[]): Message => message(parts, { messageId: 'm' });
  test.each([
    ['a text', [text('Hi')], { messages: [{ role: 'user', content: 'Hi', id: 'm' }] }],
    [
      'several texts as one',
      [text('Hi'), text('there')],
      { messages: [{ role: 'user', content: 'Hi\nthere', id: 'm' }] },
    ],
    ['data', [data({ a: 1 }), data({ b: 2 })], { a: 1, b: 2 }],
    ['both', [data({ a: 1 }), text('Hi')], { a: 1, messages: [{ role: 'user', content: 'Hi', id: 'm' }] }],
    [
      'a text after messages',
      [data({ messages: ['Before'] }), text('Hi')],
      { messages: ['Before', { role: 'user', content: 'Hi', id: 'm' }] },
    ],
  ])('%s', (_, parts, input) => expect(inputOf(said(parts), true)).toEqual(input));

  test.each([
    ['nothing', [], 'empty'],
    ['data that is no object', [data([1])], 'has to be an object'],
    ['a part without content', [{ ...text(''), content: undefined }], 'no content'],
    ['a file', [{ ...text(''), content: { $case: 'url', value: 'https://example.test' } }], 'Files'],
  ] satisfies [string, Part[], string][])('%s is refused', (_, parts, words) => {
    expect(() => inputOf(said(parts), true)).toThrow(words);
  });

  test.each([
    ['a text', [text('yes')], 'yes'],
    ['data', [data({ ok: true })], { ok: true }],
    ['both', [text('yes'), data({ ok: true })], 'yes\n{"ok":true}'],
  ])('%s answers a graph that waits', (_, parts, answer) => expect(resumeOf(said(parts))).toEqual(answer));
});

describe('a state becomes what was said', () => {
  const ids = { taskId: 't', contextId: 'c' };
  const messages = [
    { id: '1', type: 'human', content: 'One' },
    { id: '2', type: 'ai', content: 'First' },
    { id: '3', type: 'human', content: 'Two' },
    {
      id: '4',
      type: 'ai',
      content: [{ type: 'text', text: 'Sec' }, { type: 'image_url' }, { type: 'text', text: 'ond' }],
    },
    { id: '5', type: 'tool', content: 'raw' },
    { id: '6', type: 'ai', content: '' },
    { id: '7', type: 'constructor', content: 'of nobody' },
  ];
  const reported = (values: unknown, from?: string) =>
    historyOf(values, from, ids).map(({ role, parts }) => [role, parts[0]?.content?.value]);

  test('from the message of the task on, without tools and silence', () => {
    expect(reported({ messages }, '3')).toEqual([
      [Role.ROLE_USER, 'Two'],
      [Role.ROLE_AGENT, 'Second'],
    ]);
  });
  test('all of it where the message is not among it', () => expect(reported({ messages }, 'x')).toHaveLength(4));
  test('nothing of a state without messages', () => expect(reported({ a: 1 })).toEqual([]));

  const artifacts = (values: unknown) => artifactsOf(values, undefined).map(({ parts }) => parts[0]?.content?.value);
  test.each([
    ['the last thing that the agent said is the answer', { messages, more: 1 }, ['Second']],
    ['a state without messages is the answer itself', { a: 1 }, [{ a: 1 }]],
    ['where the agent said nothing, the rest of the state is', { messages: messages.slice(0, 1), a: 1 }, [{ a: 1 }]],
    ['a state that is no object is held by one', 'word', [{ values: 'word' }]],
    ['nothing is no answer', {}, []],
    ['nor is no state', null, []],
  ])('%s', (_, values, answer) => expect(artifacts(values)).toEqual(answer));
});

describe('the public description’s names', () => {
  const call = (params: object) => ({ jsonrpc: '2.0', id: 1, method: 'x', params });
  test.each([
    ['taskId is the id', { taskId: 't' }, { id: 't' }],
    ['an id that is there stays', { taskId: 't', id: 'i' }, { id: 'i' }],
    [
      'the thread is the context',
      { message: { a: 1 }, thread: { threadId: 'x' } },
      { message: { a: 1, contextId: 'x' } },
    ],
    [
      'a context that is there stays',
      { message: { contextId: 'c' }, thread: { threadId: 'x' } },
      { message: { contextId: 'c' } },
    ],
    ['an assistant is an agent', { message: { role: 'assistant' } }, { message: { role: 'agent' } }],
    ['a message that is none is left to the protocol', { message: 'hi' }, { message: 'hi' }],
  ])('%s', (_, given, params) => expect(inProtocolForm(call(given))).toEqual(call(params)));
  test('what has no parameters stays as it is', () => expect(inProtocolForm({ method: 'x' })).toEqual({ method: 'x' }));
});

describe('the address of the deployment', () => {
  const at = (headers: Record<string, string>, within = '') =>
    publicBase('http://127.0.0.1:1234/a2a/x', new Headers({ host: 'agent.test:1234', ...headers }), within).href;
  test.each([
    ['the host that was asked', {}, 'http://agent.test:1234/'],
    ['behind TLS', { 'x-forwarded-proto': 'https' }, 'https://agent.test:1234/'],
    ['behind another name', { 'x-forwarded-host': 'public.test' }, 'http://public.test/'],
    ['behind several, the outermost', { 'x-forwarded-host': 'public.test, inner.test' }, 'http://public.test/'],
    ['below a path', { 'x-forwarded-prefix': '/agents/one/' }, 'http://agent.test:1234/agents/one/'],
    ['a prefix that is no path is passed over', { 'x-forwarded-prefix': '//evil.test' }, 'http://agent.test:1234/'],
    ['a scheme of another kind too', { 'x-forwarded-proto': 'javascript' }, 'http://agent.test:1234/'],
    ['and a host that is none', { 'x-forwarded-host': 'a b' }, 'http://127.0.0.1:1234/'],
  ])('%s', (_, headers, address) => expect(at(headers)).toBe(address));
  test('with what the configuration file puts before every path', () => {
    expect(at({ 'x-forwarded-prefix': '/agents/one' }, '/api/')).toBe('http://agent.test:1234/agents/one/api/');
  });
});
