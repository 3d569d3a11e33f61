import { Role, type Message, type Part } from '@a2a-js/sdk';
import { describe, expect, test } from 'vitest';
import { artifactsOf, historyOf, inputOf, resumeOf } from '../../../../src/services/agent/protocols/a2a/messages.ts';
import { inProtocolForm } from '../../../../src/services/agent/protocols/a2a/answer.ts';
import { publicBase } from '../../../../src/services/agent/api/public-base.ts';
import { toolInput, toolNames } from '../../../../src/services/agent/protocols/mcp/server.ts';
import { data, message, text } from './a2a-speaking.ts';

describe('tool names', () => {
  const made = (name: string, id: string) => ({ assistant_id: id, graph_id: 'chat', name, metadata: {} });
  const own = (graph: string) => ({
    assistant_id: `of-${graph}`,
    graph_id: graph,
    name: 'Renamed',
    metadata: { created_by: 'system' },
  });
  test.each([
    ['the default assistant of a graph has the graph’s id', [own('chat')], ['chat']],
    ['another assistant has its name', [made('Morning', '1')], ['Morning']],
    ['unsupported characters are replaced', [made('Good day, you!', '1')], ['Good_day_you_']],
    [
      'of two equal names, the older assistant keeps it',
      [made('A', '11111111-x'), made('A', '22222222-y')],
      ['A', 'A_22222222'],
    ],
    ['the default assistant has precedence', [made('chat', '11111111-x'), own('chat')], ['chat', 'chat_11111111']],
    ['an assistant without a name uses its id', [made('', '11111111-x')], ['_11111111']],
    ['a long name is truncated', [made('x'.repeat(100), '1')], ['x'.repeat(64)]],
    [
      'and remains distinct from one with the same prefix',
      [made('x'.repeat(100), '1'), made('x'.repeat(99), '22222222-y')],
      ['x'.repeat(64), `${'x'.repeat(55)}_22222222`],
    ],
  ])('%s', (_, assistants, names) => expect([...toolNames(assistants).keys()]).toEqual(names));
});

describe('tool input', () => {
  test('uses an object schema without its own keywords', () => {
    const { schema, of } = toolInput({ $schema: 'x', type: 'object', properties: { a: {} } });
    expect(schema).toEqual({ type: 'object', properties: { a: {} } });
    expect(of({ a: 1 })).toEqual({ a: 1 });
  });
  test('is any object without a schema', () => expect(toolInput(undefined).schema).toEqual({ type: 'object' }));
  test('wraps another type in an object', () => {
    const { schema, of } = toolInput({ type: 'string' });
    expect(schema).toEqual({ type: 'object', properties: { input: { type: 'string' } }, required: ['input'] });
    expect(of({ input: 'word' })).toBe('word');
  });
});

describe('converting a message to a graph’s input', () => {
  const said = (parts: Part[]): Message => message(parts, { messageId: 'm' });
  test.each([
    ['text', [text('Hi')], { messages: [{ role: 'user', content: 'Hi', id: 'm' }] }],
    [
      'several texts are joined',
      [text('Hi'), text('there')],
      { messages: [{ role: 'user', content: 'Hi\nthere', id: 'm' }] },
    ],
    ['data', [data({ a: 1 }), data({ b: 2 })], { a: 1, b: 2 }],
    ['both', [data({ a: 1 }), text('Hi')], { a: 1, messages: [{ role: 'user', content: 'Hi', id: 'm' }] }],
    [
      'text is appended to messages',
      [data({ messages: ['Before'] }), text('Hi')],
      { messages: ['Before', { role: 'user', content: 'Hi', id: 'm' }] },
    ],
  ])('%s', (_, parts, input) => expect(inputOf(said(parts), true)).toEqual(input));

  test.each([
    ['nothing', [], 'empty'],
    ['data that is no object', [data([1])], 'has to be an object'],
    ['a part without content', [{ ...text(''), content: undefined }], 'no content'],
    ['a file', [{ ...text(''), content: { $case: 'url', value: 'https://example.test' } }], 'Files'],
  ] satisfies [string, Part[], string][])('rejects %s', (_, parts, words) => {
    expect(() => inputOf(said(parts), true)).toThrow(words);
  });

  test.each([
    ['text', [text('yes')], 'yes'],
    ['data', [data({ ok: true })], { ok: true }],
    ['both', [text('yes'), data({ ok: true })], 'yes\n{"ok":true}'],
  ])('resumes an interrupted graph with %s', (_, parts, answer) => expect(resumeOf(said(parts))).toEqual(answer));
});

describe('converting a state to a conversation', () => {
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
    { id: '7', type: 'constructor', content: 'unknown type' },
  ];
  const reported = (values: unknown, from?: string) =>
    historyOf(values, from, ids).map(({ role, parts }) => [role, parts[0]?.content?.value]);

  test('starts at the task’s message, without tool messages and empty ones', () => {
    expect(reported({ messages }, '3')).toEqual([
      [Role.ROLE_USER, 'Two'],
      [Role.ROLE_AGENT, 'Second'],
    ]);
  });
  test('is complete if the message is missing', () => expect(reported({ messages }, 'x')).toHaveLength(4));
  test('is empty for a state without messages', () => expect(reported({ a: 1 })).toEqual([]));

  const artifacts = (values: unknown) => artifactsOf(values, undefined).map(({ parts }) => parts[0]?.content?.value);
  test.each([
    ['the last message of the agent is the result', { messages, more: 1 }, ['Second']],
    ['a state without messages is the result itself', { a: 1 }, [{ a: 1 }]],
    [
      'without a message of the agent, the rest of the state is the result',
      { messages: messages.slice(0, 1), a: 1 },
      [{ a: 1 }],
    ],
    ['a state that is not an object is wrapped', 'word', [{ values: 'word' }]],
    ['an empty state has no result', {}, []],
    ['nor does a missing one', null, []],
  ])('%s', (_, values, answer) => expect(artifacts(values)).toEqual(answer));
});

describe('names of the public description', () => {
  const call = (params: object) => ({ jsonrpc: '2.0', id: 1, method: 'x', params });
  test.each([
    ['taskId becomes id', { taskId: 't' }, { id: 't' }],
    ['an existing id stays', { taskId: 't', id: 'i' }, { id: 'i' }],
    [
      'the thread becomes the context',
      { message: { a: 1 }, thread: { threadId: 'x' } },
      { message: { a: 1, contextId: 'x' } },
    ],
    [
      'an existing context stays',
      { message: { contextId: 'c' }, thread: { threadId: 'x' } },
      { message: { contextId: 'c' } },
    ],
    ['assistant becomes agent', { message: { role: 'assistant' } }, { message: { role: 'agent' } }],
    ['an invalid message is left to the protocol', { message: 'hi' }, { message: 'hi' }],
  ])('%s', (_, given, params) => expect(inProtocolForm(call(given))).toEqual(call(params)));
  test('a request without parameters stays as it is', () =>
    expect(inProtocolForm({ method: 'x' })).toEqual({ method: 'x' }));
});

describe('the address of the deployment', () => {
  const at = (headers: Record<string, string>, within = '') =>
    publicBase('http://127.0.0.1:1234/a2a/x', new Headers({ host: 'agent.test:1234', ...headers }), within).href;
  test.each([
    ['the requested host', {}, 'http://agent.test:1234/'],
    ['behind TLS', { 'x-forwarded-proto': 'https' }, 'https://agent.test:1234/'],
    ['behind another name', { 'x-forwarded-host': 'public.test' }, 'http://public.test/'],
    ['behind several proxies, the outermost', { 'x-forwarded-host': 'public.test, inner.test' }, 'http://public.test/'],
    ['below a path', { 'x-forwarded-prefix': '/agents/one/' }, 'http://agent.test:1234/agents/one/'],
    ['ignores a prefix that is not a path', { 'x-forwarded-prefix': '//evil.test' }, 'http://agent.test:1234/'],
    ['ignores an unknown scheme', { 'x-forwarded-proto': 'javascript' }, 'http://agent.test:1234/'],
    ['ignores an invalid host', { 'x-forwarded-host': 'a b' }, 'http://127.0.0.1:1234/'],
  ])('%s', (_, headers, address) => expect(at(headers)).toBe(address));
  test('includes the prefix of the configuration file', () => {
    expect(at({ 'x-forwarded-prefix': '/agents/one' }, '/api/')).toBe('http://agent.test:1234/agents/one/api/');
  });
});
